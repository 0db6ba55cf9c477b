// So many at a time: places are given in the order they were asked for.

export interface Slots {
  /** Resolves with how to give the place back. Rejects with the signal's reason when it fires while waiting. */
  take(signal: AbortSignal): Promise<() => void>;
}

/** `limit` is asked each time, so that a changed config counts at once. */
export function createSlots(limit: () => number): Slots {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    taken -= 1;
    while (waiting.length > 0 && taken < limit()) waiting.shift()?.();
  };
  const place = (): (() => void) => {
    taken += 1;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      release();
    };
  };
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (taken < limit() && waiting.length === 0) return place();
      return new Promise((resolve, reject) => {
        const go = (): void => {
          signal.removeEventListener("abort", onAbort);
          resolve(place());
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
