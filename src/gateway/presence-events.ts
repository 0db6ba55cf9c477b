// Sends presence to clients: changes gathered, in the recorded shape, with limited bytes for any number of clients.
import type { Clock } from "../base/clock.ts";
import type { Hub } from "./hub.ts";
import type { Presence } from "./presence.ts";

export interface PresenceEvents {
  /** A client connected, disconnected or sent a beacon. */
  changed(): void;
  /** The list as JSON, for a client that connects now. */
  list(): string;
  close(): void;
}

export interface PresenceTimers {
  after(ms: number, work: () => void): { clear(): void };
}

const GATHER_MS = 250;
/** What presence may cost on all connections together. */
const BYTES_A_MS = 4000;
/** Events name at most this many; `system-presence` returns all. */
const MAX_ROWS = 64;

const systemTimers: PresenceTimers = {
  after(ms, work) {
    const timer = setTimeout(work, ms).unref();
    return { clear: () => clearTimeout(timer) };
  },
};

export function createPresenceEvents(
  hub: Hub,
  presence: Presence,
  clock: Clock,
  timers: PresenceTimers = systemTimers,
): PresenceEvents {
  let sentAt = -Infinity;
  let timer: { clear(): void } | undefined;

  const list = (): string => presence.json(MAX_ROWS);
  const tell = (): void => {
    timer = undefined;
    const payload = `{"presence":${list()}}`;
    // Built when it is due: more clients may have connected since, and each makes it more expensive.
    const dueIn = sentAt + Math.max(GATHER_MS, (payload.length * hub.clients.size) / BYTES_A_MS) - clock.ticks();
    if (dueIn > 0) {
      timer = timers.after(dueIn, tell);
      return;
    }
    sentAt = clock.ticks();
    hub.broadcastJson("presence", payload, { stateVersion: { presence: presence.version(), health: 1 } });
  };

  return {
    list,
    changed() {
      timer ??= timers.after(0, tell);
    },
    close() {
      timer?.clear();
    },
  };
}
