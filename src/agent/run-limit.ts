// Limits how many turns run at a time; the others start in the order of their requests.

export interface RunLimit {
  /** Resolves with a function that ends the use. Rejects with the signal's reason when it aborts while waiting. */
  take(signal: AbortSignal): Promise<() => void>;
}

/** `limit` is read each time, so that a changed config applies immediately. */
export function createRunLimit(limit: () => number): RunLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    running -= 1;
    while (waiting.length > 0 && running < limit()) waiting.shift()?.();
  };
  const start = (): (() => void) => {
    running += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      release();
    };
  };
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (running < limit() && waiting.length === 0) return start();
      return new Promise((resolve, reject) => {
        const go = (): void => {
          signal.removeEventListener("abort", onAbort);
          resolve(start());
        };
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(go), 1);
          reject(signal.reason);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        waiting.push(go);
      });
    },
  };
}
