// Lines the house has to tell an agent: kept per session until its next turn, also over a restart.
import type { SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import type { KvTable } from "../store/store.ts";

export interface SystemEvent {
  readonly id: string;
  readonly at: number;
  readonly text: string;
}

export interface SystemEvents {
  /** Durable when it resolves. The same words twice in a row are told once. */
  readonly add: (session: SessionKey, text: string) => Promise<void>;
  /** What waits, oldest first. */
  peek(session: SessionKey): Promise<readonly SystemEvent[]>;
  /** These were told; later ones stay. */
  taken(session: SessionKey, events: readonly SystemEvent[]): Promise<void>;
}

const SPACE = "system-events";
const MAX_WAITING = 20;
const MAX_CHARS = 4000;

export function createSystemEvents(kv: KvTable, now: () => number): SystemEvents {
  // The rows are small and read on every turn; only sessions that have some are kept here.
  const waiting = new Map<SessionKey, Promise<readonly SystemEvent[]>>();
  const change = (
    session: SessionKey,
    next: (events: readonly SystemEvent[]) => readonly SystemEvent[],
  ): Promise<readonly SystemEvent[]> => {
    const before = waiting.get(session) ?? read(kv, session);
    const after = before.then(async (events) => {
      const changed = next(events);
      if (changed === events) return events;
      await kv.set(SPACE, session, changed.length === 0 ? undefined : changed);
      return changed;
    });
    waiting.set(session, after);
    const forget = (): void => {
      if (waiting.get(session) === after) waiting.delete(session);
    };
    after.then(forget, forget);
    return after;
  };
  return {
    async add(session, text) {
      await change(session, (events) => {
        if (events.at(-1)?.text === text) return events;
        const event = { id: newId(), at: now(), text: text.slice(0, MAX_CHARS).toWellFormed() };
        return [...events, event].slice(-MAX_WAITING);
      });
    },
    peek: (session) => waiting.get(session) ?? read(kv, session),
    async taken(session, told) {
      if (told.length === 0) return;
      const ids = new Set(told.map(({ id }) => id));
      await change(session, (events) => events.filter(({ id }) => !ids.has(id)));
    },
  };
}

async function read(kv: KvTable, session: SessionKey): Promise<readonly SystemEvent[]> {
  const value = await kv.get(SPACE, session);
  return Array.isArray(value) ? (value as SystemEvent[]) : [];
}
