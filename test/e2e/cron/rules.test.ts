// The jobs that cron.add and cron.update accept, and slots that pass while the gateway does not run.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { openSqliteStore } from "../../../src/store/sqlite.ts";
import { addJob, ask, runsOf, type WireJob } from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { dispose, operator, startGateway } from "../../harness/gateway.ts";

test("cron.add accepts a job flat, in job or in data, infers kinds and target, and accepts older spellings; update accepts id or jobId", async (t) => {
  const gateway = await startGateway({ config: {} });
  const wire = await operator(gateway);
  t.after(async () => {
    wire.end();
    await dispose(gateway);
  });
  const at = new Date(Date.now() + 3_600_000).toISOString();
  const shown = ({ schedule, sessionTarget, wakeMode, payload, delivery, enabled }: WireJob) => ({
    kind: schedule["kind"],
    sessionTarget,
    wakeMode,
    payload,
    delivery,
    enabled,
  });
  const line = {
    kind: "at",
    sessionTarget: "main",
    wakeMode: "now",
    payload: { kind: "systemEvent", text: "tea" },
    delivery: undefined,
    enabled: true,
  };
  for (const job of [
    { name: "a", at, text: "tea" },
    { data: { name: "b", schedule: { at }, payload: { text: "tea" } } },
    { job: { schedule: { kind: "at", atMs: Date.parse(at) }, payload: { kind: "systemEvent", text: "tea" } } },
  ])
    assert.deepEqual(shown(await addJob(wire, job)), line);
  const turn = await addJob(wire, {
    name: "c",
    schedule: { expr: "0 9 * * *", tz: "Asia/Tokyo" },
    payload: { message: "sum up", deliver: true, channel: "last", to: "7", bestEffortDeliver: true },
    state: { lastStatus: "ok" },
  });
  assert.deepEqual(shown(turn), {
    kind: "cron",
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: { kind: "agentTurn", message: "sum up" },
    delivery: { mode: "announce", channel: "last", to: "7", bestEffort: true },
    enabled: true,
  });
  assert.equal(turn.state.lastStatus, undefined, "only the gateway writes the state of a job");
  for (const named of [{ id: turn.id }, { jobId: turn.id }]) {
    const { enabled } = await ask<WireJob>(wire, "cron.update", { ...named, patch: { enabled: false } });
    assert.equal(enabled, false);
  }
  const every = await addJob(wire, { name: "d", everyMs: 60_000, message: "x", delivery: { mode: "none" } });
  assert.equal(every.state.nextRunAtMs, Number(every.schedule["anchorMs"]) + 60_000);
  const refused = await wire.request("cron.add", { name: "e", at: "2020-01-01T00:00:00Z", text: "late" });
  assert.match(refused.error?.message ?? "", /lies in the past/);
});

test("misfire rules: a slot missed while the gateway was down runs once, is skipped, or runs within a window", async (t) => {
  const first = await startGateway({ config: {} });
  const before = await operator(first);
  const rules = { once: undefined, skip: "skip", tight: { windowMs: 60_000 }, wide: { windowMs: 3_600_000 } };
  const ids = new Map<string, string>();
  const anchorMs = Date.now() - 600_000;
  for (const [name, misfire] of Object.entries(rules)) {
    const schedule = { kind: "every", everyMs: 7_200_000, anchorMs };
    const job = { name, schedule, payload: { kind: "exec", command: "true" }, delivery: { mode: "none" } };
    ids.set(name, (await addJob(before, { ...job, ...(misfire === undefined ? {} : { misfire }) })).id);
  }
  before.end();
  await first.stop("SIGKILL");
  // As if it had been down for a quarter of an hour.
  const store = await openSqliteStore({ file: join(first.state, "openclaw.sqlite") });
  for (const id of ids.values()) await store.jobs.update(id, (job) => ({ ...job, nextAt: anchorMs }));
  await store.close();
  const gateway = await startGateway({ home: first.home });
  const wire = await operator(gateway);
  t.after(async () => {
    wire.end();
    await dispose(gateway);
  });
  const states: Record<string, string[]> = {};
  for (const [name, id] of ids) {
    const runs = await until(
      () => runsOf(wire, id),
      (rows) => rows.length > 0,
      60_000,
    );
    states[name] = runs.map(({ state, slot }) => `${state} ${Number(slot) === anchorMs ? "its time" : slot}`);
  }
  const missed = ["missed its time"];
  assert.deepEqual(states, { once: ["ran its time"], skip: missed, tight: missed, wide: ["ran its time"] });
});

test("runs each job once at a time and at most cron.maxConcurrentRuns jobs; a delayed slot names the reason", async (t) => {
  const gateway = await startGateway({ config: { cron: { maxConcurrentRuns: 1 } } });
  const wire = await operator(gateway);
  t.after(async () => {
    wire.end();
    await dispose(gateway);
  });
  const sign = join(gateway.home, "go");
  const job = { schedule: { kind: "every", everyMs: 1000 }, delivery: { mode: "none" } };
  const command = `until [ -e '${sign}' ]; do sleep 0.1; done`;
  const long = await addJob(wire, { ...job, name: "long", payload: { kind: "exec", command } });
  // While every place is taken the gateway checks once a minute; an edit makes it check now.
  const checked = async () => {
    await ask(wire, "cron.update", { id: long.id, patch: { description: String(Date.now()) } });
    return runsOf(wire, long.id);
  };
  await until(checked, (rows) => rows.some(({ why }) => why === "it was still running"));
  assert.deepEqual(await ask(wire, "cron.run", { id: long.id }), { ok: true, ran: false, reason: "already-running" });
  const other = await addJob(wire, { ...job, name: "other", payload: { kind: "exec", command: "echo here" } });
  await until(checked, (rows) => rows.some(({ slot }) => Number(slot) > (other.state.nextRunAtMs ?? 0) + 1000));
  assert.deepEqual(await runsOf(wire, other.id), []);
  writeFileSync(sign, "");
  const rows = await until(
    () => runsOf(wire, other.id),
    (found) => found.some(({ state }) => state === "ran"),
  );
  const [first] = rows;
  assert.deepEqual([first?.state, first?.why], ["missed", "other jobs ran (cron.maxConcurrentRuns is 1)"]);
  assert.deepEqual(rows.find(({ state }) => state === "ran")?.why, "late");
});
