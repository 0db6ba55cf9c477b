// Delay of the event loop, measured only after a request, so that an idle gateway stays idle.
import { monitorEventLoopDelay } from "node:perf_hooks";

const FORGET_MS = 60_000;
const RESOLUTION_MS = 10;

export interface LoopDelay {
  /** p99 in ms since the last question; 0 for the first one, which starts the measuring. */
  ask(): number;
}

export function createLoopDelay(): LoopDelay {
  let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let forgetting: NodeJS.Timeout | undefined;
  return {
    ask() {
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
