// Jobs under faults F9 to F11: killed and stopped around slots, put to sleep, and many due at once.
// Full rounds: OPENCLAW_CRON_ROUNDS=1000 (restarts), OPENCLAW_CRON_JOBS=1000 (due in one second).
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { addJob, ask, firstRun, runsOf, type WireJob, type WireRun } from "../../harness/cron.ts";
import { until } from "../../harness/exec.ts";
import { say, startFakeOpenAI } from "../../fakes/openai.ts";
import { dispose, operator, startGateway, tempHome, type Wire } from "../../harness/gateway.ts";
import { chat, modelConfig } from "../../harness/model.ts";

const ROUNDS = Number(process.env["OPENCLAW_CRON_ROUNDS"] ?? 3);
const AT_ONCE = Number(process.env["OPENCLAW_CRON_JOBS"] ?? 60);
const JOBS = 5;
const EVERY_MS = 1000;
const quiet = { mode: "none" };

test(`F10 ${ROUNDS} restarts around slots, kill -9 and orderly, under a flood of cron.list: 0 missing, 0 double`, async (t) => {
  const home = tempHome();
  const server = await startFakeOpenAI(() => say("turn done"));
  const config = modelConfig(server, { cron: { maxConcurrentRuns: JOBS + 1 } });
  let gateway = await startGateway({ home, config });
  let wire = await operator(gateway);
  mkdirSync(gateway.workspace, { recursive: true });
  const every = { kind: "every", everyMs: EVERY_MS };
  const jobs: WireJob[] = [];
  for (let index = 0; index < JOBS; index++) {
    const file = join(gateway.workspace, `starts-${index}.txt`);
    const name = `job ${index}`;
    jobs.push(await addJob(wire, { name, schedule: every, command: `echo $CRON_SLOT >> ${file}`, delivery: quiet }));
  }
  const turns = await addJob(wire, {
    name: "turns",
    schedule: { ...every, everyMs: 2000 },
    message: "go",
    delivery: quiet,
  });
  for (let round = 0; round < ROUNDS; round++) {
    await aroundASlot(wire, jobs[round % JOBS]?.id ?? "", (round * 37) % 1000);
    const isOrderly = round % 3 === 2;
    await gateway.stop(isOrderly ? "SIGTERM" : "SIGKILL");
    wire.end();
    gateway = await startGateway({ home });
    wire = await operator(gateway);
  }
  for (const { id } of [...jobs, turns]) await ask(wire, "cron.update", { id, patch: { enabled: false } });
  await settled(wire, [...jobs, turns]);
  let [slots, ran, unknown, missed] = [0, 0, 0, 0];
  for (const [index, job] of jobs.entries()) {
    const rows = await runsOf(wire, job.id);
    const starts = linesOf(join(gateway.workspace, `starts-${index}.txt`));
    assertEachSlotOnce(rows, Number(job.schedule["anchorMs"]), EVERY_MS);
    assertStarts(rows, starts);
    slots += rows.reduce((sum, row) => sum + (row.missed ?? 1), 0);
    ran += rows.filter(({ state }) => state === "ran").length;
    unknown += rows.filter(({ state }) => state === "unknown").length;
    missed += rows.filter(({ state }) => state === "missed").length;
  }
  const turnRows = await runsOf(wire, turns.id);
  assertEachSlotOnce(turnRows, Number(turns.schedule["anchorMs"]), 2000);
  t.diagnostic(
    `${ROUNDS} restarts, ${slots} slots of commands: ${ran} ran, ${missed} missed, ${unknown} cut off; ${turnRows.length} rows of turns; 0 without a row, 0 begun twice`,
  );
  wire.end();
  await dispose(gateway);
  await server.close();
});

/** Looks without a pause until shortly before, at or after the next slot. */
async function aroundASlot(wire: Wire, id: string, jitterMs: number): Promise<void> {
  const { jobs } = await ask<{ jobs: WireJob[] }>(wire, "cron.list", {});
  const next = jobs.find((job) => job.id === id)?.state.nextRunAtMs ?? Date.now();
  const stop = Math.min(Math.max(next, Date.now()) - 300 + jitterMs, Date.now() + 1500);
  while (Date.now() < stop) await wire.request("cron.list", { includeDisabled: true });
}

async function settled(wire: Wire, jobs: readonly WireJob[]): Promise<void> {
  const ids = new Set(jobs.map(({ id }) => id));
  await until(
    async () => (await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true })).jobs,
    (all) => all.every((job) => !ids.has(job.id) || !("runningAtMs" in job.state)),
  );
}

/** Every time from the first to the last row is there exactly once, alone or in a row that stands for many. */
function assertEachSlotOnce(rows: readonly WireRun[], anchorMs: number, everyMs: number): void {
  assert.equal(new Set(rows.map(({ slot }) => slot)).size, rows.length, "two rows for one slot");
  const times = rows.flatMap(({ slot }) => {
    const [from = 0, to = from] = slot.split("..").map(Number);
    return Array.from({ length: Math.round((to - from) / everyMs) + 1 }, (_, index) => from + index * everyMs);
  });
  const sorted = times.toSorted((a, b) => a - b);
  const expected = sorted.map((_, index) => anchorMs + (index + 1) * everyMs);
  assert.deepEqual(sorted, expected, "a slot is missing or there twice");
}

/** What was started is on record as ran or cut off, and nothing was started twice. */
function assertStarts(rows: readonly WireRun[], starts: readonly string[]): void {
  assert.equal(new Set(starts).size, starts.length, "a slot was begun twice");
  const states = new Map(rows.map(({ slot, state }) => [slot, state]));
  for (const slot of starts) assert.match(states.get(slot) ?? "no row", /^(?:ran|unknown|failed)$/);
  const begun = new Set(starts);
  for (const { slot, state } of rows)
    if (state === "ran") assert.ok(begun.has(slot), `${slot} is on record but was not begun`);
}

function linesOf(file: string): string[] {
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .filter((line) => line !== "")
    : [];
}

test("F10 a run that a kill interrupted is recorded with the reason and not started again", async () => {
  const home = tempHome();
  let gateway = await startGateway({ home });
  let wire = await operator(gateway);
  mkdirSync(gateway.workspace, { recursive: true });
  const file = join(gateway.workspace, "long.txt");
  const at = new Date(Date.now() + 700).toISOString();
  const { id } = await addJob(wire, {
    name: "long",
    schedule: { kind: "at", at },
    command: `echo begun >> ${file}; sleep 60`,
    delivery: quiet,
  });
  await until(
    () => linesOf(file),
    (lines) => lines.length === 1,
  );
  await gateway.stop("SIGKILL");
  wire.end();
  gateway = await startGateway({ home });
  wire = await operator(gateway);
  const run = await firstRun(wire, id);
  assert.deepEqual([run.state, run.status], ["unknown", "error"]);
  assert.match(run.why ?? "", /gateway stopped during the run; its progress is unknown/);
  await sleep(1000);
  assert.equal(linesOf(file).length, 1);
  const { jobs } = await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true });
  assert.equal(jobs.find((job) => job.id === id)?.enabled, false);
  wire.end();
  await dispose(gateway);
});

test("F10 an orderly stop during a run is recorded before the gateway exits", async () => {
  const home = tempHome();
  let gateway = await startGateway({ home });
  let wire = await operator(gateway);
  mkdirSync(gateway.workspace, { recursive: true });
  const file = join(gateway.workspace, "long.txt");
  const every = { kind: "every", everyMs: 1000 };
  const { id } = await addJob(wire, {
    name: "long",
    schedule: every,
    command: `echo begun >> ${file}; sleep 60`,
    delivery: quiet,
  });
  await until(
    () => linesOf(file),
    (lines) => lines.length === 1,
  );
  await gateway.stop("SIGTERM");
  wire.end();
  gateway = await startGateway({ home, env: { OPENCLAW_SKIP_CRON: "1" } });
  wire = await operator(gateway);
  const run = (await runsOf(wire, id)).find(({ state }) => state === "unknown");
  assert.match(run?.why ?? "", /gateway stopped while it ran/);
  wire.end();
  await dispose(gateway);
});

test("F9 after a suspension (SIGSTOP) a job runs once, with a row for each missed slot", async (t) => {
  const gateway = await startGateway({ home: tempHome() });
  const wire = await operator(gateway);
  t.after(async () => {
    wire.end();
    await dispose(gateway);
  });
  mkdirSync(gateway.workspace, { recursive: true });
  const file = join(gateway.workspace, "awake.txt");
  const every = { kind: "every", everyMs: 1000 };
  const job = await addJob(wire, {
    name: "awake",
    schedule: every,
    command: `echo $CRON_SLOT >> ${file}`,
    delivery: quiet,
  });
  await until(
    () => linesOf(file),
    (lines) => lines.length >= 1,
  );
  // A slot that passes while the job runs is skipped, not missed.
  await settled(wire, [job]);
  process.kill(gateway.pid, "SIGSTOP");
  const asleepAt = Date.now();
  // The time itself is the input: several slots must pass while the process is stopped.
  while (Date.now() < asleepAt + 4500) await sleep(100);
  const wokeAt = Date.now();
  process.kill(gateway.pid, "SIGCONT");
  await until(
    () => runsOf(wire, job.id),
    (rows) => rows.some(({ slot, state }) => state === "ran" && Number(slot) > wokeAt - 1000),
  );
  await ask(wire, "cron.update", { id: job.id, patch: { enabled: false } });
  await settled(wire, [job]);
  const rows = await runsOf(wire, job.id);
  assertEachSlotOnce(rows, Number(job.schedule["anchorMs"]), 1000);
  assertStarts(rows, linesOf(file));
  const slept = rows.filter(({ slot }) => Number(slot) > asleepAt + 100 && Number(slot) < wokeAt - 1000);
  assert.ok(slept.length >= 2);
  assert.deepEqual(new Set(slept.map(({ state }) => state)), new Set(["missed"]));
});

test(`F11 ${AT_ONCE} jobs due in the same second have one row each, bounded and in order, while chat is answered`, async (t) => {
  const server = await startFakeOpenAI(() => say("I am here."));
  const gateway = await startGateway({
    home: tempHome(),
    config: modelConfig(server, { cron: { maxConcurrentRuns: 3 } }),
  });
  const wire = await operator(gateway);
  const due = Date.now() + Math.max(4000, AT_ONCE * 25);
  const at = new Date(due).toISOString();
  const job = (index: number): object => ({
    name: `j${index}`,
    schedule: { kind: "at", at },
    deleteAfterRun: false,
    tool: "session_status",
    delivery: quiet,
  });
  const added: WireJob[] = [];
  for (let from = 0; from < AT_ONCE; from += 50) {
    const some = Array.from({ length: Math.min(50, AT_ONCE - from) }, (_, index) => addJob(wire, job(from + index)));
    added.push(...(await Promise.all(some)));
  }
  await sleep(Math.max(0, due - Date.now()));
  const answers: number[] = [];
  const done = until(
    async () => (await ask<{ jobs: WireJob[] }>(wire, "cron.list", { includeDisabled: true })).jobs,
    (jobs) => jobs.every(({ state }) => state.lastStatus !== undefined),
    120_000,
  );
  for (let index = 0; index < 5; index++) {
    const began = performance.now();
    const { state } = await chat(wire, "main", "are you there?", `chat-${index}`);
    answers.push(Math.round(performance.now() - began));
    assert.equal(state, "final");
  }
  await done;
  const begun: { id: string; startedAt: number }[] = [];
  for (const { id } of added) {
    const rows = await runsOf(wire, id);
    assert.deepEqual(
      rows.map(({ state, slot }) => [state, slot]),
      [["ran", String(due)]],
    );
    begun.push({ id, startedAt: rows[0]?.runAtMs ?? 0 });
  }
  const lags = begun.map(({ startedAt }) => startedAt - due).toSorted((a, b) => a - b);
  t.diagnostic(
    `${AT_ONCE} due at once: start lag p99 ${lags[Math.floor(lags.length * 0.99) - 1]} ms; chat meanwhile ${answers.join(", ")} ms`,
  );
  wire.end();
  await dispose(gateway);
  await server.close();
});
