// Measures the delay of the event loop between two calls; measuring stops a minute after the last one.
import { monitorEventLoopDelay } from "node:perf_hooks";

const FORGET_MS = 60_000;
const RESOLUTION_MS = 10;

export interface LoopDelay {
  /** In ms; 0 for the first call, which starts the measurement. */
  p99SinceLastCall(): number;
}

export function createLoopDelay(): LoopDelay {
  let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let forgetting: NodeJS.Timeout | undefined;
  return {
    p99SinceLastCall() {
      clearTimeout(forgetting);
      forgetting = setTimeout(() => {
        histogram?.disable();
        histogram = undefined;
      }, FORGET_MS).unref();
      if (histogram === undefined) {
        histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
        histogram.enable();
        return 0;
      }
      const p99 = Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS);
      histogram.reset();
      return p99;
    },
  };
}
