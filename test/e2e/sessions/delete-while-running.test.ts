// A session that is deleted or reset during a run.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../harness/exec.ts";
import { hang } from "../../fakes/openai.ts";
import { openTwoAgents, type TwoAgents } from "../../harness/sessions.ts";

let agents: TwoAgents;
before(async () => {
  agents = await openTwoAgents();
});
after(() => agents.close());

const keys = async (): Promise<string[]> => {
  const payload = await agents.wire.call("sessions.list", {});
  return payload.sessions.map(({ key }) => key);
};

async function begin(session: string, runId: string): Promise<void> {
  const asked = agents.turns().length;
  await agents.wire.request("chat.send", { sessionKey: session, message: "work", idempotencyKey: runId });
  await until(
    () => agents.turns().length > asked,
    (isAsked) => isAsked,
  );
}

test("sessions.delete stops the current run first, and the session does not come back", async () => {
  agents.play(() => hang());
  await begin("agent:main:short", "run-short");
  const payload = await agents.wire.call("sessions.delete", { key: "agent:main:short" });
  assert.equal(payload.deleted, true);
  const { payload: end } = await agents.wire.request("agent.wait", { runId: "run-short", timeoutMs: 60_000 });
  assert.equal((end as { status: string }).status, "error");
  await sleep(300);
  assert.deepEqual(
    (await keys()).filter((key) => key === "agent:main:short"),
    [],
  );
});

test("sessions.reset stops the current run, and the new session begins empty", async () => {
  agents.play(() => hang());
  await begin("agent:main:reset", "run-reset");
  await agents.wire.request("sessions.reset", { key: "agent:main:reset" });
  const { payload: end } = await agents.wire.request("agent.wait", { runId: "run-reset", timeoutMs: 60_000 });
  assert.equal((end as { status: string }).status, "error");
  assert.deepEqual(await agents.history("agent:main:reset"), []);
});
