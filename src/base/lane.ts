// Runs work on the same key one at a time, in order; work on different keys runs in parallel.
import { untilAborted } from "./abort.ts";

export interface Lanes {
  /** Rejects with the signal's reason when it fires while waiting; running work has to watch its own signal. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Keys with running or waiting work. */
  readonly size: number;
}

export function createLanes(): Lanes {
  const tails = new Map<string, Promise<void>>();
  return {
    async run(key, work, signal) {
      const before = tails.get(key);
      const { promise: mine, resolve: done } = Promise.withResolvers<void>();
      // A waiter that gives up must not let the next one overtake the work before it.
      const tail = before === undefined ? mine : before.then(() => mine);
      tails.set(key, tail);
      try {
        // Lanes never reject, so only the signal can end the wait early.
        if (before !== undefined) await untilAborted(before, signal);
        signal?.throwIfAborted();
        return await work();
      } finally {
        done();
        if (tails.get(key) === tail) void tail.then(() => tails.get(key) === tail && tails.delete(key));
      }
    },
    get size() {
      return tails.size;
    },
  };
}
