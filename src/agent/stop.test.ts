// An orderly stop: what had not begun is left for the next start, nothing begins behind it, nobody is kept waiting.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { SessionKey } from "../core/names.ts";
import { openAgentHouse, scriptedBook, text, type AgentHouse, type HousePlan } from "../../test/harness/agent.ts";

async function runtime(t: TestContext, plan: HousePlan): Promise<AgentHouse> {
  const opened = await openAgentHouse(plan);
  t.after(() => opened.close());
  return opened;
}

const child = (name: string): SessionKey => `agent:main:subagent:${name}` as SessionKey;

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 6000) throw new Error(`never: ${what}`);
    await sleep(10);
  }
}

test("turns that wait for a place are run after the restart, and only the one that had begun is interrupted", async (t) => {
  const models = scriptedBook((_request, index) => (index === 0 ? ["hang"] : text("done")));
  const config = { agents: { defaults: { subagents: { maxConcurrent: 1 } } } };
  const before = await openAgentHouse({ models, config });
  const ids = ["a", "b", "c"];
  for (const id of ids)
    await before.send(`task ${id}`, { runId: id, sessionKey: child(id), source: "sessions_spawn", authorised: false });
  await until("the first asks its model", () => models.requests.length === 1);
  await sleep(50);
  const after = await before.reopen();
  t.after(() => after.close());
  const ends = await Promise.all(ids.map((id) => after.agents.wait(id, 60_000)));
  assert.deepEqual(
    ends.map((end) => [end?.status, end?.failure?.code, end?.text]),
    [
      ["error", "run.interrupted", ""],
      ["ok", undefined, "done"],
      ["ok", undefined, "done"],
    ],
  );
  assert.equal(models.requests.length, 3);
});

test("a turn asked for over HTTP that waits for a place is answered with its end, not left", async (t) => {
  const models = scriptedBook(() => ["hang"]);
  const { agents, send } = await runtime(t, { models, config: { agents: { defaults: { maxConcurrent: 1 } } } });
  await send("first", { sessionKey: "agent:main:one" as SessionKey });
  await until("it runs", () => models.requests.length === 1);
  await send("second", { runId: "http", sessionKey: "agent:main:two" as SessionKey, source: "http" });
  const waiting = agents.wait("http", 60_000);
  await sleep(50);
  await agents.close();
  assert.equal((await waiting)?.failure?.code, "run.interrupted");
});

test("a turn posted while the agents close begins after the restart, once", async (t) => {
  const models = scriptedBook(() => text("done"));
  const before = await openAgentHouse({ models });
  const posted = before.send("hi", { runId: "late" });
  const closed = before.agents.close();
  await Promise.all([posted, closed]);
  await sleep(50);
  assert.equal(models.requests.length, 0);
  const after = await before.reopen();
  t.after(() => after.close());
  assert.equal((await after.agents.wait("late", 60_000))?.text, "done");
  assert.equal(models.requests.length, 1);
});

test("whoever waits for a turn that is left for the next start is let go when the agents close", async (t) => {
  const models = scriptedBook(() => ["hang"]);
  const { agents, send } = await runtime(t, { models });
  await send("first", { runId: "first" });
  await until("it runs", () => models.requests.length === 1);
  await send("second", { runId: "second" });
  const waiting = agents.wait("second", 3_600_000);
  await agents.close();
  assert.equal(await waiting, undefined);
});
