// Turns of jobs: the posted request, the stored end, and a shutdown in between.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { RunOutcome } from "../core/event.ts";
import { openStage, type Stage, type StagePlan } from "./fixture.cases.ts";

const HOUR = 3_600_000;
const job = (payload: object = {}): object => ({
  name: "brief [x]",
  schedule: { kind: "every", everyMs: HOUR },
  payload: { kind: "agentTurn", message: "Sum up.", ...payload },
  delivery: { mode: "none" },
});

async function ranOnce(input: object, plan: StagePlan = {}, outcome: Partial<RunOutcome> = {}) {
  const stage = await openStage(plan);
  stage.outcomes.set("", outcome);
  const { id } = await stage.cron.add(input);
  stage.clock.pass(HOUR);
  await stage.settle();
  const [row] = await stage.rows(id);
  const after = await stage.cron.get(id);
  const { posted } = stage;
  await stage.close();
  return { row, posted, id, after };
}

test("posts a turn once in its own session with the settings of the job", async () => {
  const payload = { model: "a/b", thinking: "high", timeoutSeconds: 90, toolsAllow: ["read"] };
  const { row, posted, id } = await ranOnce(job(payload));
  assert.deepEqual(posted, [
    {
      runId: row?.runId,
      sessionKey: row?.sessionKey,
      text: `[cron:${id} brief x] Sum up.`,
      source: "cron",
      authorised: false,
      stamp: true,
      label: "Cron: brief [x]",
      model: { provider: "a", id: "b" },
      thinking: "high",
      timeoutMs: 90_000,
      toolsAllow: ["read"],
    },
  ]);
  assert.deepEqual(
    [row?.state, row?.summary, row?.sessionId],
    ["ran", "what the agent says", `session of ${row?.runId}`],
  );
});

test("requires an allowed model, by name or alias, where the config lists models", async () => {
  const config = { agents: { defaults: { models: { "a/small": { alias: "quick" } } } } };
  const refused = await ranOnce(job({ model: "b/large" }), { config });
  assert.deepEqual([refused.row?.state, refused.posted.length], ["failed", 0]);
  assert.match(
    refused.row?.error ?? "",
    /model b\/large is not allowed here \(add it under agents\.defaults\.models\)/,
  );
  const { posted } = await ranOnce(job({ model: "Quick" }), { config });
  assert.deepEqual(posted[0]?.model, { provider: "a", id: "small" });
});

test("resolves models of jobs by the usual aliases in any case", async () => {
  const models = { "anthropic/claude-opus-4-6": {}, "a/Small": {} };
  const model = { primary: "a/Small", fallbacks: ["b/spare"] };
  const config = { agents: { defaults: { models, model } } };
  const used = async (name: string): Promise<unknown> =>
    (await ranOnce(job({ model: name }), { config })).posted[0]?.model;
  assert.deepEqual(await used("opus"), { provider: "anthropic", id: "claude-opus-4-6" });
  assert.deepEqual(await used("A/small"), { provider: "a", id: "small" });
  assert.deepEqual(await used("b/spare"), { provider: "b", id: "spare" });
  const { row } = await ranOnce(job({ model: "nothing" }), { config });
  assert.match(row?.error ?? "", /payload\.model is not a model: nothing/);
});

test("counts an error with its message, and does not count an interrupted run", async () => {
  const failure = { code: "model.failed", message: "no answer", hint: "check the key" };
  const failed = await ranOnce(job(), {}, { status: "error", text: "", failure });
  assert.deepEqual([failed.row?.state, failed.row?.error], ["failed", "no answer (check the key)"]);
  assert.equal(failed.after.state.consecutiveErrors, 1);
  const cut = { code: "run.interrupted", message: "cut off" };
  const interrupted = await ranOnce(job(), {}, { status: "error", text: "", failure: cut });
  assert.deepEqual([interrupted.row?.state, interrupted.row?.why], ["unknown", "cut off"]);
  assert.equal(interrupted.after.state.consecutiveErrors, undefined);
});

test("leaves a turn that waits for a slot at shutdown to the next process, which posts it once", async () => {
  let stage: Stage = await openStage();
  stage.outcomes.clear();
  const { id } = await stage.cron.add(job());
  stage.clock.pass(HOUR);
  await stage.settle();
  assert.equal(stage.posted.length, 1);
  assert.equal((await stage.rows(id))[0]?.state, "running");
  const { posted } = stage;
  stage.cron.stop();
  stage = await stage.restart();
  await stage.settle();
  assert.deepEqual(
    stage.posted.map(({ runId }) => runId),
    posted.map(({ runId }) => runId),
  );
  assert.equal((await stage.rows(id)).length, 1);
  assert.equal((await stage.rows(id))[0]?.state, "ran");
  await stage.close();
});

test("shows the latest run under the session of the job, and deletes sessions of old runs", async () => {
  const stage = await openStage();
  const { id } = await stage.cron.add(job());
  const keys: string[] = [];
  for (let run = 0; run < 35; run++) {
    stage.clock.pass(HOUR);
    await stage.settle();
    const key = (await stage.rows(id)).at(-1)?.sessionKey ?? "";
    keys.push(key);
    await stage.store.sessions.put({
      key: key as never,
      agentId: "main" as never,
      sessionId: `s${run}`,
      createdAt: 1,
      updatedAt: 1,
      entry: {},
    });
  }
  const kept = await Promise.all(keys.map((key) => stage.store.sessions.get(key as never)));
  const count = kept.filter((record) => record !== undefined).length;
  assert.ok(count >= 29 && count <= 31, `${count} sessions are left`);
  assert.equal(kept[0], undefined);
  const latest = await stage.store.sessions.get(`agent:main:cron:${id}` as never);
  assert.equal(latest?.sessionId, `session of ${(await stage.rows(id)).at(-1)?.runId}`);
  await stage.close();
});
