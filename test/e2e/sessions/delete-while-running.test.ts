// A session that is deleted or begun anew while it works.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../harness/exec.ts";
import { hang } from "../../fakes/openai.ts";
import { openStage, type Stage } from "../../harness/sessions.ts";

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(() => stage.close());

const keys = async (): Promise<string[]> => {
  const { payload } = await stage.wire.request("sessions.list", {});
  return (payload as unknown as { sessions: { key: string }[] }).sessions.map(({ key }) => key);
};

async function begin(session: string, runId: string): Promise<void> {
  const asked = stage.turns().length;
  await stage.wire.request("chat.send", { sessionKey: session, message: "work", idempotencyKey: runId });
  await until(
    () => stage.turns().length > asked,
    (isAsked) => isAsked,
  );
}

test("sessions.delete stops the run under way first, and the session does not come back", async () => {
  stage.play(() => hang());
  await begin("agent:main:short", "run-short");
  const { payload } = await stage.wire.request("sessions.delete", { key: "agent:main:short" });
  assert.equal((payload as unknown as { deleted: boolean }).deleted, true);
  const { payload: end } = await stage.wire.request("agent.wait", { runId: "run-short", timeoutMs: 60_000 });
  assert.equal((end as unknown as { status: string }).status, "error");
  await sleep(300);
  assert.deepEqual(
    (await keys()).filter((key) => key === "agent:main:short"),
    [],
  );
});

test("sessions.reset stops the run under way: the new session begins empty", async () => {
  stage.play(() => hang());
  await begin("agent:main:anew", "run-anew");
  await stage.wire.request("sessions.reset", { key: "agent:main:anew" });
  const { payload: end } = await stage.wire.request("agent.wait", { runId: "run-anew", timeoutMs: 60_000 });
  assert.equal((end as unknown as { status: string }).status, "error");
  assert.deepEqual(await stage.history("agent:main:anew"), []);
});
