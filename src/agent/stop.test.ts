// A shutdown: waiting turns are left for the next start, no turn begins after it, and waits end.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { SessionKey } from "../core/names.ts";
import { openTestAgents, scriptedBook, text, type TestAgents, type TestAgentsPlan } from "../../test/harness/agent.ts";

async function runtime(t: TestContext, plan: TestAgentsPlan): Promise<TestAgents> {
  const opened = await openTestAgents(plan);
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

test("runs turns that wait for a slot after the restart, and interrupts only the one that had begun", async (t) => {
  const models = scriptedBook((_request, index) => (index === 0 ? ["hang"] : text("done")));
  const config = { agents: { defaults: { subagents: { maxConcurrent: 1 } } } };
  const before = await openTestAgents({ models, config });
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

test("ends an HTTP turn that waits for a slot instead of leaving it for the next start", async (t) => {
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

test("begins a turn that was posted during the shutdown once after the restart", async (t) => {
  const models = scriptedBook(() => text("done"));
  const before = await openTestAgents({ models });
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

test("ends waits for a turn that is left for the next start", async (t) => {
  const models = scriptedBook(() => ["hang"]);
  const { agents, send } = await runtime(t, { models });
  await send("first", { runId: "first" });
  await until("it runs", () => models.requests.length === 1);
  await send("second", { runId: "second" });
  const waiting = agents.wait("second", 3_600_000);
  await agents.close();
  assert.equal(await waiting, undefined);
});
