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
  /** Durable when it resolves. The same words twice in a row are told once, as one event. */
  readonly add: (session: SessionKey, text: string) => Promise<SystemEvent>;
  /** What waits, oldest first. */
  peek(session: SessionKey): Promise<readonly SystemEvent[]>;
  /** These were told, by this run; later ones stay. */
  taken(session: SessionKey, events: readonly SystemEvent[], runId?: string): Promise<void>;
  /** The run that tells it, once one does in this process; undefined when it had to make room for newer ones. */
  reader(event: SystemEvent, signal: AbortSignal): Promise<string | undefined>;
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
  const readers = new Map<string, Set<(runId: string | undefined) => void>>();
  const gone = (ids: readonly string[], runId: string | undefined): void => {
    for (const id of ids) for (const hear of readers.get(id) ?? []) hear(runId);
  };
  return {
    async add(session, text) {
      const words = text.slice(0, MAX_CHARS).toWellFormed();
      let dropped: readonly SystemEvent[] = [];
      const kept = await change(session, (events) => {
        if (events.at(-1)?.text === words) return events;
        const all = [...events, { id: newId(), at: now(), text: words }];
        dropped = all.slice(0, -MAX_WAITING);
        return all.slice(-MAX_WAITING);
      });
      gone(
        dropped.map(({ id }) => id),
        undefined,
      );
      const event = kept.at(-1);
      if (event === undefined) throw new TypeError("a line that was kept is not there");
      return event;
    },
    peek: (session) => waiting.get(session) ?? read(kv, session),
    async taken(session, told, runId) {
      if (told.length === 0) return;
      const ids = new Set(told.map(({ id }) => id));
      await change(session, (events) => events.filter(({ id }) => !ids.has(id)));
      gone([...ids], runId);
    },
    reader({ id }, signal) {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const hearers = readers.get(id) ?? new Set();
      const hear = (runId: string | undefined): void => {
        hearers.delete(hear);
        if (hearers.size === 0) readers.delete(id);
        signal.removeEventListener("abort", stop);
        resolve(runId);
      };
      const stop = (): void => hear(undefined);
      readers.set(id, hearers.add(hear));
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      return promise;
    },
  };
}

async function read(kv: KvTable, session: SessionKey): Promise<readonly SystemEvent[]> {
  const value = await kv.get(SPACE, session);
  return Array.isArray(value) ? (value as SystemEvent[]) : [];
}
