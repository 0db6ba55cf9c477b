// Shared by tests of the engine: a real engine in a temporary folder, command lines for it, and a check for leftover
// processes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { scanProcesses, type Process } from "./proc.ts";
import type { PipelinePart, Running, RunOptions } from "./running.ts";
import { createStartRun, type StartRunDeps } from "./start-run.ts";

export interface TestEngine {
  readonly folder: string;
  start(options: RunOptions): Promise<Running>;
  /** A line for `sh -c`. */
  sh(line: string, options?: Partial<RunOptions>): Promise<Running>;
  close(): Promise<void>;
}

export const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8", TERM: "dumb" };

/** Full rounds with OPENCLAW_PROCESS_ROUNDS=<n>. */
export const rounds = (usual: number): number => Number(process.env["OPENCLAW_PROCESS_ROUNDS"] ?? usual);

export { silentLog };

export function openTestEngine(options: Partial<StartRunDeps> = {}): TestEngine {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-run-"));
  const engine = createStartRun({ folder: join(folder, "runs"), clock: systemClock, log: silentLog, ...options });
  return {
    folder,
    start: engine.start,
    sh: (line, more = {}) => engine.start({ pipeline: [shellPart(line, folder)], ...more }),
    async close() {
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function shellPart(line: string, cwd: string): PipelinePart {
  return { launch: { argv: ["/bin/sh", "-c", line], cwd, env } };
}

/** Living processes that match. */
export async function livingWith(isOne: (process: Process) => boolean): Promise<readonly Process[]> {
  return (await scanProcesses()).filter((process) => !process.isDead && isOne(process));
}

export async function until(isDone: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await isDone())) {
    if (performance.now() > end) throw new Error("the condition was not met in time");
    await sleep(10);
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
