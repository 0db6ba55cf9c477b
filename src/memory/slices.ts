// Writing in slices of some milliseconds, each a transaction of its own that no other work of the thread ever meets open.
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";

const SLICE_MS = 40;
/** What waits to be written at most; it is held in memory. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** A piece of writing that may be cut between any two of its steps. */
export type Steps = Generator<void, void>;

export interface Slices {
  /** Takes work; waits while there is more than enough of it. */
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
