// Work on one key runs one after the other, in the order it came; different keys run side by side.

export interface Lanes {
  /** Rejects with the signal's reason when it fires while waiting; work that has begun is left to its own signal. */
  run<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Keys with work under way or waiting. */
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
        if (before !== undefined) await settled(before, signal);
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

/** Lanes never reject, so only the signal can end the wait early. */
async function settled(before: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return before;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([before, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
