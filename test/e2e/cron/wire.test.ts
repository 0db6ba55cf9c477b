// The cron.* methods over the wire: recorded shapes, refusals, who may only look, and the dry run.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { addJob, ask, cronEvents, hourly, openJobGateway, type WireJob } from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { operator, type Wire } from "../../harness/gateway.ts";
import type { ScriptedGateway } from "../../harness/model.ts";

let runtime: ScriptedGateway;
let wire: Wire;
before(async () => {
  runtime = await openJobGateway();
  ({ wire } = runtime);
});
after(() => runtime.close());

test("cron.status, list, add, update and remove have the recorded shapes, and events say what happened", async () => {
  const { id, ...job } = await addJob(wire, {
    name: "ui-job",
    enabled: true,
    schedule: { kind: "every", everyMs: 1_800_000 },
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: { kind: "agentTurn", message: "ui cron text" },
    delivery: { mode: "announce", channel: "last" },
  });
  const { createdAtMs, updatedAtMs, state, schedule, ...rest } = job;
  assert.deepEqual(rest, {
    name: "ui-job",
    enabled: true,
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: { kind: "agentTurn", message: "ui cron text" },
    delivery: { mode: "announce", channel: "last" },
  });
  assert.deepEqual(schedule, { kind: "every", everyMs: 1_800_000, anchorMs: createdAtMs });
  assert.deepEqual(state, { nextRunAtMs: Number(createdAtMs) + 1_800_000 });
  assert.equal(updatedAtMs, createdAtMs);
  const status = await ask<Record<string, unknown>>(wire, "cron.status", {});
  assert.deepEqual(Object.keys(status), ["enabled", "storePath", "jobs", "nextWakeAtMs"]);
  const patched = await ask<WireJob>(wire, "cron.update", {
    jobId: id,
    patch: { enabled: false, description: "off" },
  });
  assert.deepEqual([patched.enabled, patched.state], [false, {}]);
  const listed = await ask<{ jobs: WireJob[] }>(wire, "cron.list", {});
  assert.equal(
    listed.jobs.some((one) => one.id === id),
    false,
  );
  const all = await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true });
  assert.equal(
    all.jobs.some((one) => one.id === id),
    true,
  );
  assert.deepEqual(await ask(wire, "cron.remove", { id }), { ok: true, removed: true });
  assert.deepEqual(await ask(wire, "cron.remove", { id }), { ok: true, removed: false });
  const events = await until(
    () => cronEvents(wire, id).map(({ action }) => action),
    (actions) => actions.length >= 3,
  );
  assert.deepEqual(events, ["added", "updated", "removed"]);
});

test("update and run refuse an unknown job and say where to look", async () => {
  for (const [method, params] of [
    ["cron.update", { id: "nope", patch: {} }],
    ["cron.run", { id: "nope" }],
  ] as const) {
    const { error } = await wire.request(method, params);
    assert.match(error?.message ?? "", /unknown cron job id: nope/);
  }
  assert.equal((await wire.request("cron.run", {})).error?.code, "INVALID_REQUEST");
});

test("main with agentTurn, isolated with systemEvent, delivery on main: INVALID_REQUEST with the key that fixes it", async () => {
  for (const [job, hint] of [
    [{ sessionTarget: "main", payload: { kind: "agentTurn", message: "x" } }, /sessionTarget/],
    [{ sessionTarget: "isolated", payload: { kind: "systemEvent", text: "x" } }, /sessionTarget/],
    [{ payload: { kind: "systemEvent", text: "x" }, delivery: { mode: "announce" } }, /delivery/],
  ] as const) {
    const { error } = await wire.request("cron.add", { name: "bad", schedule: hourly, ...job });
    assert.equal(error?.code, "INVALID_REQUEST");
    assert.match(JSON.stringify(error), hint);
  }
});

test("a client with read scope can read jobs and change none", async () => {
  const reader = await operator(runtime.gateway, { scopes: ["operator.read"] });
  assert.equal((await reader.request("cron.list", {})).ok, true);
  const { error } = await reader.request("cron.add", { name: "x", schedule: hourly, payload: { text: "x" } });
  assert.equal(error?.message, "missing scope: operator.admin");
  reader.end();
});

test("cron.preview shows the job and its next five times without saving it", async () => {
  const before = await ask<{ jobs: number }>(wire, "cron.status", {});
  const job = {
    name: "dst",
    schedule: { kind: "cron", expr: "30 2 * * *", tz: "Europe/Berlin" },
    payload: { message: "x" },
  };
  const preview = await ask<{ fires: { offset: string }[]; job: WireJob; tz: string }>(wire, "cron.preview", { job });
  assert.deepEqual([preview.fires.length, preview.tz, preview.job.sessionTarget], [5, "Europe/Berlin", "isolated"]);
  assert.match(preview.fires[0]?.offset ?? "", /^\+0[12]:00$/);
  assert.deepEqual(await ask(wire, "cron.status", {}), before);
});
