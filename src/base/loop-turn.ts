// Spreads a burst of work over turns of the event loop, so that timers and other clients are served in between.

const waiting: (() => void)[] = [];

/** Resolves in a turn of its own: callers that wait at the same moment continue one after another. */
export function loopTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(next);
  });
}

/** One at a time, because what a resolved caller does runs before the event loop continues. */
function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}
