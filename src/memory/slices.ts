// Writes in slices of some milliseconds, each one a complete transaction, so that searches run in between.
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 40;
/** Maximum amount of text that waits in memory to be written. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** A write that can be interrupted between any two steps. */
export type Steps = Generator<void, void>;

export interface Slices {
  /** Queues work; waits while the queue is full. */
  offer(steps: Steps, bytes: number): Promise<void>;
  /** Resolves when everything offered is written. */
  drain(): Promise<void>;
}

export function createSlices(database: DatabaseSync): Slices {
  const waiting: Steps[] = [];
  let waitingBytes = 0;
  const drain = async (): Promise<void> => {
    while (waiting.length > 0) {
      transaction(database, () => writeFor(SLICE_MS, waiting));
      await nextTurn();
    }
    waitingBytes = 0;
  };
  return {
    async offer(steps, bytes) {
      waiting.push(steps);
      waitingBytes += bytes;
      if (waitingBytes >= MAX_WAITING_BYTES) await drain();
    },
    drain,
  };
}

export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function writeFor(durationMs: number, waiting: Steps[]): void {
  const endsAt = performance.now() + durationMs;
  for (let steps = waiting[0]; steps !== undefined; steps = waiting[0]) {
    while (steps.next().done !== true) if (performance.now() > endsAt) return;
    waiting.shift();
    if (performance.now() > endsAt) return;
  }
}
