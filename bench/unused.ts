// What a feature costs a gateway that has it configured and does not use it: start and memory, against one without it.
import { readdirSync, readFileSync } from "node:fs";

import { dispose, startGateway, type GatewayPlan } from "../test/harness/gateway.ts";
import { atMost, median, round, type Row } from "./table.ts";

const STARTS = 7;

/** Each in turn, so that both meet the same machine. A plan is asked for before every start. */
export async function benchUnused(what: string, off: () => GatewayPlan, on: () => GatewayPlan): Promise<Row[]> {
  const figures = {
    off: { start: [] as number[], cpu: [] as number[], memory: [] as number[] },
    on: { start: [] as number[], cpu: [] as number[], memory: [] as number[] },
  };
  for (let at = 0; at < STARTS; at++)
    for (const [name, plan] of [
      ["off", off],
      ["on", on],
    ] as const) {
      const { startMs, cpuMs, megabytes } = await startOnce(plan());
      figures[name].start.push(startMs);
      figures[name].cpu.push(cpuMs);
      figures[name].memory.push(megabytes);
    }
  const start = [best(figures.on.start), best(figures.off.start)] as const;
  const cpu = [best(figures.on.cpu), best(figures.off.cpu)] as const;
  const memory = [median(figures.on.memory), median(figures.off.memory)] as const;
  return [
    atMost(
      `gateway start, ${what} configured and unused`,
      start[0] / start[1],
      1.05,
      "x",
      `${round(start[0])} ms, off ${round(start[1])} ms; processor time ${round(cpu[0])} ms, off ${round(cpu[1])} ms`,
    ),
    atMost(
      `gateway memory, ${what} configured and unused`,
      memory[0] / memory[1],
      1.05,
      "x",
      `${round(memory[0])} MB, off ${round(memory[1])} MB`,
    ),
  ];
}

async function startOnce(plan: GatewayPlan): Promise<{ startMs: number; cpuMs: number; megabytes: number }> {
  const started = performance.now();
  const gateway = await startGateway(plan);
  const startMs = performance.now() - started;
  const cpuMs = cpuTime(gateway.pid);
  const status = readFileSync(`/proc/${gateway.pid}/status`, "utf8");
  const megabytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
  await dispose(gateway);
  return { startMs, cpuMs, megabytes };
}

/** Of all threads, in milliseconds. Other work on the machine changes it little. */
function cpuTime(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Other work on the machine only ever adds. */
const best = (values: readonly number[]): number => Math.min(...values);
