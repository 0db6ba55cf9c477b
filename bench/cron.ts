// Jobs: ten thousand of them, a thousand due in one second beside chat; every slot has one row, and chat stays quick.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { openStore } from "../src/store/builtin.ts";
import type { JobRecord } from "../src/store/store.ts";
import { dispose, operator, startGateway, tempHome, type Wire } from "../test/harness/gateway.ts";
import { benchConfig, startBenchModel } from "./model-server.ts";
import { atLeast, atMost, quantile, type Row } from "./table.ts";

const JOBS = 10_000;
const DUE = 1_000;
const IDLE_CHATS = 300;
const DUE_IN_MS = 25_000;
let run = 0;

export async function benchCron(): Promise<Row[]> {
  const model = await startBenchModel();
  const home = tempHome();
  const due = Date.now() + DUE_IN_MS;
  await fillJobs(home, due);
  const gateway = await startGateway({ home, config: benchConfig(model.url) });
  const wire = await operator(gateway);
  for (let i = 0; i < 50; i++) await chat(wire, i);
  const idle = await chatsUntil(wire, async (count) => count >= IDLE_CHATS);
  if (Date.now() > due) throw new Error("the jobs were due before the idle figure was taken; raise DUE_IN_MS");
  await sleep(due - Date.now());
  const began = performance.now();
  const busy = await chatsUntil(wire, (count) => (count % 20 === 0 ? allEnded(wire) : Promise.resolve(false)));
  const tookMs = performance.now() - began;
  const { rows, lags } = await rowsOf(wire, due);
  wire.end();
  await dispose(gateway);
  model.close();
  const [idleP99, busyP99] = [quantile(idle, 0.99), quantile(busy, 0.99)];
  return [
    atLeast(`${JOBS} jobs, ${DUE} due in one second: slots with exactly one row`, rows, DUE, ""),
    atMost(
      "chat p99 meanwhile, against idle",
      busyP99 / idleP99,
      2,
      "x",
      `${busyP99.toFixed(1)} ms against ${idleP99.toFixed(1)}; ${busy.length} chats in ${(tookMs / 1000).toFixed(1)} s`,
    ),
    atMost("start lag p99, one at a time", quantile(lags, 0.99) / 1000, 60, " s"),
  ];
}

/** Half of those due ask a model, half use a tool; the rest waits for another day. */
async function fillJobs(home: string, due: number): Promise<void> {
  const state = join(home, ".openclaw");
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const store = await openStore({ file: join(state, "openclaw.sqlite") });
  const now = Date.now();
  const jobs = Array.from({ length: JOBS }, (_, index): JobRecord => {
    const at = index < DUE ? due : due + 86_400_000 + index;
    const payload =
      index % 2 === 0
        ? { kind: "agentTurn", message: `job ${index}` }
        : { kind: "tool", tool: "session_status", args: {} };
    return {
      id: `job-${index}`,
      nextAt: at,
      createdAt: now,
      updatedAt: now,
      body: {
        name: `job ${index}`,
        enabled: true,
        deleteAfterRun: false,
        schedule: { kind: "at", at: new Date(at).toISOString() },
        sessionTarget: "isolated",
        wakeMode: "now",
        payload,
        delivery: { mode: "none" },
      },
      state: {},
    };
  });
  await Promise.all(jobs.map((job) => store.jobs.put(job)));
  await store.close();
}

async function chatsUntil(wire: Wire, isOver: (count: number) => Promise<boolean>): Promise<number[]> {
  const times: number[] = [];
  do times.push(await chat(wire, times.length));
  while (!(await isOver(times.length)));
  return times;
}

async function chat(wire: Wire, index: number): Promise<number> {
  const runId = `bench-${++run}`;
  const from = performance.now();
  await wire.request("chat.send", { sessionKey: `agent:main:c${index % 8}`, message: "hello", idempotencyKey: runId });
  await wire.request("agent.wait", { runId, timeoutMs: 60_000 });
  const took = performance.now() - from;
  wire.frames.length = 0;
  return took;
}

async function allEnded(wire: Wire): Promise<boolean> {
  const { payload } = await wire.request("cron.runs", { id: `job-${DUE - 1}` });
  return (payload as unknown as { entries: unknown[] }).entries.length > 0;
}

async function rowsOf(wire: Wire, due: number): Promise<{ rows: number; lags: number[] }> {
  const lags: number[] = [];
  let rows = 0;
  for (let index = 0; index < DUE; index++) {
    const { payload } = await wire.request("cron.runs", { id: `job-${index}` });
    const { entries } = payload as unknown as { entries: { slot: string; runAtMs: number }[] };
    if (entries.length === 1 && entries[0]?.slot === String(due)) rows += 1;
    lags.push((entries[0]?.runAtMs ?? Number.NaN) - due);
  }
  return { rows, lags };
}
