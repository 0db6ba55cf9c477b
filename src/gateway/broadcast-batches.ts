// Sends events to many clients: in slices, several events per write, with pauses so that requests get through.
import type { Clock } from "../base/clock.ts";
import type { Client } from "./client.ts";
import type { Frame } from "./frame-bytes.ts";

export interface BroadcastBatches {
  /** In order for each client; immediately for a few, in slices for many. */
  send(clients: readonly Client[], frame: Frame): void;
  /** True while clients wait for earlier events: callers that can gather changes should. */
  isBehind(): boolean;
}

export interface BatchTimers {
  soon(work: () => void): void;
  after(ms: number, work: () => void): void;
}

/** Up to this many clients are written to without delay. */
export const MAX_UNBATCHED_CLIENTS = 64;
const SLICE_MS = 3;
/** Writing takes at most about a ninth of the loop's time: after each pass comes a pause of eight times its length. */
const REST_FACTOR = 8;

const systemTimers: BatchTimers = {
  soon: (work) => void setImmediate(work),
  after: (ms, work) => void setTimeout(work, ms).unref(),
};

export function createBroadcastBatches(clock: Clock, timers: BatchTimers = systemTimers): BroadcastBatches {
  /** Clients of this pass that are still to be written to, and those of the next pass. */
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
      const isBatched = clients.length > MAX_UNBATCHED_CLIENTS;
      for (const client of clients) {
        if (!isBatched) client.send(frame);
        else {
          client.queue(frame);
          next.add(client);
        }
      }
      if (!isBatched || current !== undefined || isResting) return;
      isResting = true;
      timers.soon(begin);
    },
    isBehind: () => current !== undefined || isResting,
  };
}
