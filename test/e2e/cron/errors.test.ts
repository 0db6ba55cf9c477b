// What becomes of a job that fails: a one-shot is switched off, a recurring one waits longer each time.
import assert from "node:assert/strict";
import { test } from "node:test";

import { addJob, ask, firstRun, type WireJob } from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { dispose, operator, startGateway, type Wire } from "../../harness/gateway.ts";

const fails = { kind: "exec", command: "exit 3" };
const none = { mode: "none" };

interface Told {
  readonly consecutiveErrors?: number;
  readonly lastRunAtMs?: number;
  readonly lastDurationMs?: number;
}

async function jobOf(wire: Wire, id: string): Promise<WireJob & { state: Told }> {
  const { jobs } = await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true });
  const found = jobs.find((job) => job.id === id);
  if (found === undefined) throw new Error(`job ${id} is gone`);
  return found;
}

test("App. E 12: keeps a failed one-shot job, disables it with the reason and does not retry it", async (t) => {
  const gateway = await startGateway({ config: {} });
  const wire = await operator(gateway);
  t.after(async () => {
    wire.end();
    await dispose(gateway);
  });
  const at = new Date(Date.now() + 600).toISOString();
  const { id } = await addJob(wire, { name: "once", schedule: { kind: "at", at }, payload: fails, delivery: none });
  assert.equal((await firstRun(wire, id)).status, "error");
  const job = await until(
    () => jobOf(wire, id),
    ({ enabled }) => !enabled,
  );
  assert.equal(job.state.lastStatus, "error");
  assert.match(job.state.lastError ?? "", /3/);
  assert.equal(job.state.nextRunAtMs, undefined);
});

test("App. E 12: a failing recurring job waits 30 s, 1 min, 5 min, 15 min, then an hour; a success resets this", async (t) => {
  const gateway = await startGateway({ config: {} });
  const wire = await operator(gateway);
  t.after(async () => {
    wire.end();
    await dispose(gateway);
  });
  const schedule = { kind: "every", everyMs: 1000 };
  const waited: number[] = [];
  for (let before = 0; before < 6; before++) {
    const name = `after ${before}`;
    const { id } = await addJob(wire, { name, schedule, payload: fails, delivery: none, enabled: false });
    for (let failed = 0; failed < before; failed++) await ask(wire, "cron.run", { id, mode: "force" });
    await until(
      () => jobOf(wire, id),
      ({ state }) => (state.consecutiveErrors ?? 0) === before,
    );
    await ask(wire, "cron.update", { id, patch: { enabled: true } });
    const job = await until(
      () => jobOf(wire, id),
      ({ state }) => (state.consecutiveErrors ?? 0) === before + 1,
    );
    const { lastRunAtMs = 0, lastDurationMs = 0, nextRunAtMs = 0 } = job.state;
    waited.push(Math.round((nextRunAtMs - lastRunAtMs - lastDurationMs) / 10_000) * 10);
    await ask(wire, "cron.update", { id, patch: { enabled: false, payload: { kind: "exec", command: "true" } } });
    await ask(wire, "cron.run", { id, mode: "force" });
    await until(
      () => jobOf(wire, id),
      ({ state }) => state.consecutiveErrors === undefined,
    );
  }
  assert.deepEqual(waited, [30, 60, 300, 900, 3600, 3600]);
});
