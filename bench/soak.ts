// A long run of turns at a steady rate over many sessions: memory must level off, and a turn must stay cheap.
// The full length: BENCH_SOAK_S=600 npm run bench soak
import { setTimeout as sleep } from "node:timers/promises";

import { dispose, operator, startGateway } from "../test/harness/gateway.ts";
import { benchConfig, startBenchModel } from "./model-server.ts";
import { cpuTicks, residentMb } from "./serve.ts";
import { atMost, type Row } from "./table.ts";

const SECONDS = Number(process.env["BENCH_SOAK_S"] ?? 180);
const PER_SECOND = 20;
const SESSIONS = 128;
const WARM_SECONDS = 60;

export async function benchSoak(): Promise<Row[]> {
  const model = await startBenchModel();
  const gateway = await startGateway({ config: benchConfig(model.url) });
  const wire = await operator(gateway);
  const cpuBefore = cpuTicks(gateway.pid);
  const memory: number[] = [];
  const turns: Promise<boolean>[] = [];
  const one = async (turn: number): Promise<boolean> => {
    const runId = `soak-${turn}`;
    const sessionKey = `agent:main:soak-${turn % SESSIONS}`;
    await wire.request("chat.send", { sessionKey, message: `message ${turn}`, idempotencyKey: runId });
    const { payload } = await wire.request("agent.wait", { runId, timeoutMs: 60_000 });
    return (payload as unknown as { status?: string } | undefined)?.status === "ok";
  };
  const from = performance.now();
  for (let turn = 0; turn < SECONDS * PER_SECOND; turn++) {
    await sleep(Math.max(0, from + (turn * 1000) / PER_SECOND - performance.now()));
    turns.push(one(turn));
    if (turn % PER_SECOND !== 0) continue;
    memory.push(residentMb(gateway.pid));
    // What the client keeps is not what is measured, but it shares the machine.
    wire.frames.length = 0;
    model.arrivals.length = 0;
    model.answeredAt.length = 0;
  }
  const bad = (await Promise.all(turns)).filter((isOk) => !isOk).length;
  const cpuMs = ((cpuTicks(gateway.pid) - cpuBefore) * 10) / turns.length;
  wire.end();
  await dispose(gateway);
  model.close();
  const early = memory.slice(WARM_SECONDS - 20, WARM_SECONDS);
  const slot = memory.slice(-20);
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const note = `${mean(early).toFixed(0)} MB after a minute, ${mean(slot).toFixed(0)} MB at the end`;
  return [
    atMost(`${turns.length} turns at ${PER_SECOND}/s over ${SESSIONS} sessions: not ok`, bad, 0, ""),
    atMost("memory at the end against after the first minute", mean(slot) / mean(early), 1.1, "x", note),
    atMost("most memory", Math.max(...memory), 220, " MB"),
    atMost("CPU of a turn", cpuMs, 15, " ms"),
  ];
}
