// Open runs of a dead process get one end each; only those that had not begun continue.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import type { SessionKey } from "../core/names.ts";
import { createSystemEvents } from "../session/system-events.ts";
import type { SlotRecord } from "../store/store.ts";
import { NOON, openStage, pulse, type Stage } from "./fixture.cases.ts";

const HOUR = 3_600_000;
const SESSION = "agent:main:cron:x:run:y";

/** A job whose slot of one hour ago a process claimed before it died. */
async function cutOff(job: Record<string, unknown>, prepare?: (stage: Stage, id: string) => Promise<void>) {
  const first = await openStage();
  const { id } = await first.cron.add(job);
  const slot: SlotRecord = {
    jobId: id,
    slot: String(NOON),
    at: NOON,
    state: "running",
    why: "due",
    startedAt: NOON,
    runId: "cron:y",
    ...(job["text"] === undefined ? { sessionKey: SESSION } : {}),
  };
  await first.store.jobs.claim(id, (current) => ({ job: current, rows: [slot] }));
  await prepare?.(first, id);
  const stage = await first.restart();
  await stage.settle();
  const rows = await stage.rows(id);
  const { starts, notified } = stage;
  const found = await stage.store.jobs.get(id);
  await stage.close();
  return { rows, starts, notified, job: found };
}

const call = { tool: "exec", agentId: "main", sessionKey: SESSION, caller: "cron", at: NOON };

test("starts a claimed run that had not begun, under the same row", async () => {
  const { rows, starts } = await cutOff(pulse(HOUR));
  assert.deepEqual(
    rows.map(({ slot, state }) => [slot, state]),
    [[String(NOON), "ran"]],
  );
  assert.equal(starts.length, 1);
  assert.equal(starts[0]?.session, SESSION);
});

test("closes an interrupted run as unknown without starting it again or counting an error", async () => {
  const { rows, starts, job } = await cutOff(pulse(HOUR), ({ store }) =>
    store.journal.record({ id: "c1", outcome: "started", ...call }, { durable: true }),
  );
  assert.deepEqual(
    rows.map(({ state, why }) => [state, why]),
    [["unknown", "the gateway stopped during the run; its progress is unknown"]],
  );
  assert.equal(starts.length, 0);
  assert.deepEqual(job?.state, {
    lastRunAtMs: NOON,
    lastStatus: "error",
    lastDurationMs: 0,
    lastError: "the gateway stopped during the run; its progress is unknown",
  });
  assert.equal(job?.nextAt, NOON + HOUR);
});

test("closes a run that ended just before the kill with its true state", async () => {
  const well = await cutOff(pulse(HOUR), ({ store }) =>
    store.journal.record({ id: "c1", outcome: "ok", ...call }, { durable: true }),
  );
  assert.deepEqual([well.rows[0]?.state, well.starts.length], ["ran", 0]);
  const badly = await cutOff(pulse(HOUR), ({ store }) =>
    store.journal.record({ id: "c1", outcome: "error", error: { message: "no disk" }, ...call }, { durable: true }),
  );
  assert.deepEqual([badly.rows[0]?.state, badly.rows[0]?.error, badly.starts.length], ["failed", "no disk", 0]);
});

test("posts a note to the main session exactly once over a kill", async () => {
  const event = { name: "tea", schedule: { kind: "every", everyMs: HOUR }, text: "tea is ready" };
  const posted = await cutOff(event, async ({ store }, id) => {
    const events = createSystemEvents(store.kv, () => NOON);
    const slot = { jobId: id, slot: String(NOON) };
    await events.add("agent:main:main" as SessionKey, "tea is ready", false, {
      together: (line) => store.slots.note(slot, "told", line),
    });
  });
  assert.deepEqual([posted.rows.map(({ state }) => state), posted.notified], [["ran"], []]);
  const unposted = await cutOff(event);
  assert.deepEqual(
    [unposted.rows.map(({ state }) => state), unposted.notified.map(({ text }) => text)],
    [["ran"], ["tea is ready"]],
  );
});

test("ends the row of a job that was removed meanwhile", async () => {
  const { rows, starts, job } = await cutOff(pulse(HOUR), async ({ store }, id) => void (await store.jobs.delete(id)));
  assert.deepEqual([rows[0]?.state, starts.length, job], ["unknown", 0, undefined]);
});

test("retries to close an interrupted run on a full disk while other jobs run", async (t) => {
  const first = await openStage();
  const anchored = { schedule: { kind: "every", everyMs: HOUR, anchorMs: NOON } };
  const cut = await first.cron.add(pulse(HOUR, anchored));
  const other = await first.cron.add(pulse(HOUR, { ...anchored, name: "other" }));
  const slot = { jobId: cut.id, slot: "x", at: NOON, state: "running" as const, sessionKey: SESSION };
  await first.store.jobs.claim(cut.id, (job) => ({ job, rows: [slot] }));
  await first.store.journal.record({ id: "c1", outcome: "started", ...call }, { durable: true });
  let isFull = true;
  const again = t.mock.method(globalThis, "setTimeout");
  const full = new OpenClawError("store.full", "no space left");
  const stage = await first.restart({
    wrap: (store) => ({
      ...store,
      jobs: {
        ...store.jobs,
        finish: (...end) => (isFull && end[0].slot === "x" ? Promise.reject(full) : store.jobs.finish(...end)),
      },
      slots: { ...store.slots, pruneGone: () => Promise.reject(full) },
    }),
  });
  stage.clock.pass(HOUR);
  await stage.settle();
  assert.deepEqual(
    (await stage.rows(other.id)).map(({ state }) => state),
    ["ran"],
  );
  const rowOf = async () => (await stage.rows(cut.id)).find((row) => row.slot === "x")?.state;
  assert.equal(await rowOf(), "running");
  isFull = false;
  // The half minute until the next try, cut short.
  const retry = again.mock.calls.find(({ arguments: [, ms] }) => ms === 30_000);
  assert.ok(retry !== undefined);
  retry.arguments[0]();
  for (let tries = 0; (await rowOf()) === "running" && tries < 3000; tries++) await sleep(20);
  assert.equal(await rowOf(), "unknown");
  await stage.close();
});
