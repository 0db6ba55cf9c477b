// The control beside every figure of latency: the loop delay of a Node that does nothing of ours, in the same run.
import { spawn } from "node:child_process";

export interface IdleLoop {
  /** p99 in ms since the last question. */
  ask(): Promise<number>;
  stop(): void;
}

const RESOLUTION_MS = 10;

/**
 * With `spinMs` it computes for that long in every `3 * spinMs`: a process that works waits longer for a core than one
 * that sleeps, however short it holds its own loop.
 */
export function startIdleLoop({ spinMs = 0 }: { readonly spinMs?: number } = {}): IdleLoop {
  const source = `const loop = require("node:perf_hooks").monitorEventLoopDelay({ resolution: ${RESOLUTION_MS} });
    loop.enable();
    const spin = () => { for (const end = performance.now() + ${spinMs}; performance.now() < end;); };
    if (${spinMs} > 0) setInterval(spin, ${3 * spinMs});
    process.stdin.on("data", () => {
      console.log(Math.max(0, loop.percentile(99) / 1e6 - ${RESOLUTION_MS}));
      loop.reset();
    });`;
  const child = spawn(process.execPath, ["-e", source], { stdio: ["pipe", "pipe", "inherit"] });
  return {
    ask: () =>
      new Promise((resolve) => {
        child.stdout.once("data", (chunk: Buffer) => resolve(Number(chunk.toString())));
        child.stdin.write("\n");
      }),
    stop: () => void child.kill(),
  };
}

/** The p99 of an idle Node while the work runs. */
export async function besideIdle<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly idleMs: number }> {
  const idle = startIdleLoop();
  await idle.ask();
  try {
    return { value: await work(), idleMs: await idle.ask() };
  } finally {
    idle.stop();
  }
}

/** What of a figure the machine makes every process wait, and what is left. */
export const idleNote = (ours: number, idle: number): string =>
  `an idle Node meanwhile: ${idle.toFixed(1)} ms; difference ${Math.max(0, ours - idle).toFixed(1)} ms`;
