// Deletes old turns by count and size per session, and by total size.
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { turnFolder, turnNumbers, unlessMissing } from "./record.ts";

export interface PruneLimits {
  readonly sessionTurns: number;
  readonly sessionBytes: number;
  readonly totalBytes: number;
}

export const pruneLimits: PruneLimits = {
  sessionTurns: 50,
  sessionBytes: 300_000_000,
  totalBytes: 1_000_000_000,
};

/** Releases a turn for deletion unless it is active. */
export type MayDrop = (folder: string) => Promise<boolean>;

export async function pruneSession(sessionAt: string, mayDrop: MayDrop, limits: PruneLimits): Promise<void> {
  const numbers = (await turnNumbers(sessionAt)).toReversed();
  let bytes = 0;
  for (const [at, seq] of numbers.entries()) {
    const folder = turnFolder(sessionAt, seq);
    bytes += (await weigh(folder)).bytes;
    // The newest one always stays, at any size, because people mean this one.
    if (at > 0 && (at >= limits.sessionTurns || bytes > limits.sessionBytes)) await drop(folder, mayDrop);
  }
}

/** Deletes the oldest turns of all sessions first. It reads every turn, so it runs only now and then. */
export async function pruneAll(base: string, mayDrop: MayDrop, limits: PruneLimits): Promise<void> {
  const turns: { readonly folder: string; readonly bytes: number; readonly at: number }[] = [];
  for (const name of await readdir(base).catch(unlessMissing<string[]>([]))) {
    const sessionAt = join(base, name);
    for (const seq of await turnNumbers(sessionAt)) {
      const folder = turnFolder(sessionAt, seq);
      turns.push({ folder, ...(await weigh(folder)) });
    }
  }
  let total = turns.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { folder, bytes } of turns.toSorted((a, b) => a.at - b.at)) {
    if (total <= limits.totalBytes) return;
    if (await drop(folder, mayDrop)) total -= bytes;
  }
}

async function drop(folder: string, mayDrop: MayDrop): Promise<boolean> {
  if (!(await mayDrop(folder))) return false;
  await rm(folder, { recursive: true, force: true });
  return true;
}

// Even a short file occupies a disk block and a directory entry.
const LEAST_BYTES = 4096;

async function weigh(folder: string): Promise<{ bytes: number; at: number }> {
  let [bytes, at] = [LEAST_BYTES, 0];
  for (const name of await readdir(folder).catch(unlessMissing<string[]>([]))) {
    const facts = await stat(join(folder, name)).catch(unlessMissing(undefined));
    bytes += Math.max(facts?.size ?? 0, LEAST_BYTES);
    at = Math.max(at, facts?.mtimeMs ?? 0);
  }
  return { bytes, at };
}
