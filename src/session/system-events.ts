// System events: notes of the gateway that a session's next turn reads, stored until then.
import type { SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import type { SystemEvent } from "../protocol/methods/system.ts";
import { isMarkedUntrusted } from "./provenance.ts";
import type { KvTable, KvWrite } from "../store/store.ts";

export type { SystemEvent };

export interface SystemEvents {
  /** Durable when it resolves. The same text twice in a row becomes one event. */
  readonly add: (session: SessionKey, text: string, wakes?: boolean, traits?: EventOptions) => Promise<SystemEvent>;
  /** The waiting events, oldest first. */
  peek(session: SessionKey): Promise<readonly SystemEvent[]>;
  /** Sessions with an event that asks for a turn. */
  sessionsToWake(): Promise<SessionKey[]>;
  /** Removes events that this run read; later ones stay. */
  markRead(session: SessionKey, events: readonly SystemEvent[], runId?: string): Promise<void>;
  /** Resolves with the run that reads the event, or undefined when newer events pushed it out. */
  reader(event: SystemEvent, signal: AbortSignal): Promise<string | undefined>;
}

export interface EventOptions {
  readonly untrusted?: boolean;
  readonly together?: Together | undefined;
}

/**
 * Stores the event together with another row that must change in the same step, such as the slot of a job.
 * Gets undefined when the same text waits already. When it throws, the event is not stored.
 */
export type Together = (line: KvWrite | undefined) => Promise<unknown>;

const SPACE = "system-events";
const MAX_WAITING = 20;
const MAX_CHARS = 4000;

export function createSystemEvents(kv: KvTable, now: () => number): SystemEvents {
  // Every turn reads these rows, so sessions that have some are cached.
  const waiting = new Map<SessionKey, Promise<readonly SystemEvent[]>>();
  const change = (
    session: SessionKey,
    next: (events: readonly SystemEvent[]) => readonly SystemEvent[],
    together?: Together,
  ): Promise<readonly SystemEvent[]> => {
    const before = waiting.get(session) ?? readEvents(kv, session);
    const after = before.then(async (events) => {
      const changed = next(events);
      const value = changed.length === 0 ? undefined : changed;
      if (together !== undefined)
        await together(changed === events ? undefined : { space: SPACE, key: session, value });
      else if (changed !== events) await kv.set(SPACE, session, value);
      return changed;
    });
    waiting.set(session, after);
    const forget = (): void => {
      if (waiting.get(session) === after) waiting.delete(session);
    };
    after.then(forget, forget);
    return after;
  };
  /** Callers that wait for the run that reads an event, by event id. */
  const readers = new Map<string, Set<(runId: string | undefined) => void>>();
  const settleReaders = (ids: readonly string[], runId: string | undefined): void => {
    for (const id of ids) for (const resolve of readers.get(id) ?? []) resolve(runId);
  };
  return {
    async add(session, text, wakes = false, { untrusted = false, together } = {}) {
      const words = text.slice(0, MAX_CHARS).toWellFormed();
      let dropped: readonly SystemEvent[] = [];
      const kept = await change(
        session,
        (events) => {
          const last = events.at(-1);
          const traits = { ...(wakes ? { wakes } : {}), ...(untrusted ? { untrusted } : {}) };
          if (last?.text === words) {
            const hasAll = (!wakes || last.wakes === true) && (!untrusted || isMarkedUntrusted(last));
            return hasAll ? events : [...events.slice(0, -1), { ...last, ...traits }];
          }
          const event: SystemEvent = { id: newId(), at: now(), text: words, ...traits };
          const all = [...events, event];
          if (all.length <= MAX_WAITING) return all;
          dropped = all.slice(0, 1 - MAX_WAITING);
          return [droppedNotice(dropped), ...all.slice(1 - MAX_WAITING)];
        },
        together,
      );
      settleReaders(
        dropped.map(({ id }) => id),
        undefined,
      );
      const event = kept.at(-1);
      if (event === undefined) throw new TypeError("a stored event is missing");
      return event;
    },
    peek: (session) => waiting.get(session) ?? readEvents(kv, session),
    async sessionsToWake() {
      const rows = await kv.list(SPACE);
      return rows.flatMap(({ key, value }) => (eventsIn(value).some(({ wakes }) => wakes) ? [key as SessionKey] : []));
    },
    async markRead(session, read, runId) {
      if (read.length === 0) return;
      const ids = new Set(read.map(({ id }) => id));
      await change(session, (events) => events.filter(({ id }) => !ids.has(id)));
      settleReaders([...ids], runId);
    },
    reader({ id }, signal) {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      const waiters = readers.get(id) ?? new Set();
      const settle = (runId: string | undefined): void => {
        waiters.delete(settle);
        if (waiters.size === 0) readers.delete(id);
        signal.removeEventListener("abort", stop);
        resolve(runId);
      };
      const stop = (): void => settle(undefined);
      readers.set(id, waiters.add(settle));
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      return promise;
    },
  };
}

async function readEvents(kv: KvTable, session: SessionKey): Promise<readonly SystemEvent[]> {
  return eventsIn(await kv.get(SPACE, session));
}

function eventsIn(value: unknown): readonly SystemEvent[] {
  return Array.isArray(value) ? (value as SystemEvent[]) : [];
}

/** Counts the dropped events. */
function droppedNotice(dropped: readonly SystemEvent[]): SystemEvent {
  const left = dropped.reduce((sum, event) => sum + (event.left ?? 1), 0);
  const text = `${left} earlier system events did not fit and were dropped`;
  return { id: newId(), at: dropped[0]?.at ?? 0, text, left };
}
