// The part of a process's event loop delay that its own work causes; the rest is time it waited for a core.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const TICK_MS = 5;
const fileOf = (pid: number): string => join(tmpdir(), `openclaw-own-delay-${pid}`);

/** Loaded by the measured process. A tick is late by its own work for at most the CPU time that its thread used. */
const source = `import { writeFileSync } from "node:fs";
let delays = [];
let wall = performance.now();
let cpu = process.threadCpuUsage();
setInterval(() => {
  const now = { wall: performance.now(), cpu: process.threadCpuUsage() };
  const used = (now.cpu.user + now.cpu.system - cpu.user - cpu.system) / 1000;
  delays.push(Math.max(0, Math.min(used, now.wall - wall - ${TICK_MS})));
  ({ wall, cpu } = now);
}, ${TICK_MS}).unref();
process.on("SIGUSR2", () => {
  const sorted = delays.sort((a, b) => a - b);
  writeFileSync(${JSON.stringify(fileOf(0).slice(0, -1))} + process.pid, String(sorted[Math.floor(sorted.length * 0.99)] ?? 0));
  delays = [];
});`;

/** For the environment of the process that `ownDelay` asks. */
export const measuresOwnDelay = {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}`,
};

/** p99 in ms since the last question. */
export async function ownDelay(pid: number): Promise<number> {
  const file = fileOf(pid);
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await sleep(5);
  const value = Number(readFileSync(file, "utf8"));
  rmSync(file);
  return value;
}
