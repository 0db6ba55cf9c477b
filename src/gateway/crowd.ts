// Events for many clients at once: written in slices, several events in one write, and rests so that requests get through.
import type { Clock } from "../base/clock.ts";
import type { Client } from "./client.ts";
import type { Frame } from "./frame-bytes.ts";

export interface Crowd {
  /** In order for each client; at once for a few, in slices for many. */
  send(clients: readonly Client[], frame: Frame): void;
  /** True while clients wait for what was sent: whoever can gather changes should. */
  isBehind(): boolean;
}

export interface CrowdTimers {
  soon(work: () => void): void;
  after(ms: number, work: () => void): void;
}

/** So many are served without any delay. */
export const FEW = 64;
const SLICE_MS = 3;
/** Writing takes at most about a ninth of the loop's time: each pass is followed by a rest of eight times its length. */
const REST_FACTOR = 8;

const systemTimers: CrowdTimers = {
  soon: (work) => void setImmediate(work),
  after: (ms, work) => void setTimeout(work, ms).unref(),
};

export function createCrowd(clock: Clock, timers: CrowdTimers = systemTimers): Crowd {
  /** Clients of this pass that are still to be written to, and those of the next. */
  let current: Iterator<Client> | undefined;
  let next = new Set<Client>();
  let spentMs = 0;
  let isResting = false;

  const begin = (): void => {
    isResting = false;
    if (next.size === 0) return;
    current = next.values();
    next = new Set();
    spentMs = 0;
    writeSlice();
  };
  const writeSlice = (): void => {
    const from = clock.ticks();
    for (;;) {
      const { done, value } = current?.next() ?? { done: true, value: undefined };
      if (done === true) break;
      value.flush();
      const took = clock.ticks() - from;
      if (took < SLICE_MS) continue;
      spentMs += took;
      return timers.soon(writeSlice);
    }
    current = undefined;
    isResting = true;
    timers.after((spentMs + clock.ticks() - from) * REST_FACTOR, begin);
  };

  return {
    send(clients, frame) {
      const isCrowd = clients.length > FEW;
      for (const client of clients) {
        if (!isCrowd) client.send(frame);
        else {
          client.queue(frame);
          next.add(client);
        }
      }
      if (!isCrowd || current !== undefined || isResting) return;
      isResting = true;
      timers.soon(begin);
    },
    isBehind: () => current !== undefined || isResting,
  };
}
