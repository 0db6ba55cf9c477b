// Makes a session fit the model: summarize, else clear old tool results, else start a new session; always with a notice.
import type { RunEventBody } from "../core/event.ts";
import type { Message } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import { resetSession } from "../session/session.ts";
import type { SessionRecord, Store, TranscriptEntry } from "../store/store.ts";
import { compactHistory, type CompactionPorts } from "./compact.ts";
import { messagesOf, type Histories, type History } from "./context.ts";
import { tokensIn } from "./estimate.ts";

export interface ShrinkDeps {
  readonly store: Store;
  readonly histories: Histories;
  readonly clock: Clock;
  readonly emit: (body: RunEventBody) => void;
  /** Called before the older part is summarized. */
  readonly beforeCompaction: () => Promise<void>;
}

/** The session of a run; starting a new session replaces its record. */
export interface SessionRef {
  record: SessionRecord;
}

export interface Shrunk {
  readonly messages: readonly Message[];
  readonly how: "compacted" | "cleared" | "archived";
  readonly note: string;
}

/** `attempt` counts from 1 within a run; each one goes a step further. */
export async function shrinkSession(
  sessionRef: SessionRef,
  deps: ShrinkDeps,
  ports: CompactionPorts,
  options: { readonly attempt: number; readonly current?: readonly TranscriptEntry[] },
): Promise<Shrunk> {
  const compacted = options.attempt > 1 ? undefined : await compactSession(sessionRef, deps, ports);
  if (compacted?.ok === true)
    return { messages: messagesOf(compacted.history), how: "compacted", note: compacted.note };
  const why = compacted === undefined ? "" : ` (${compacted.note})`;
  const cleared = options.attempt > 2 ? undefined : await clearResults(sessionRef, deps, ports, why);
  return cleared ?? archiveSession(sessionRef, deps, options.current, why);
}

export type CompactOutcome =
  | { readonly ok: true; readonly history: History; readonly kept: number; readonly note: string }
  | { readonly ok: false; readonly note: string };

export async function compactSession(
  sessionRef: SessionRef,
  deps: ShrinkDeps,
  ports: CompactionPorts,
  options: { readonly instructions?: string | undefined; readonly keepTokens?: number } = {},
): Promise<CompactOutcome> {
  const { store, histories, clock, emit } = deps;
  emit({ stream: "compaction", phase: "start" });
  await deps.beforeCompaction();
  const history = await currentHistory(sessionRef, deps, ports);
  const made = await compactHistory(history, ports, options);
  if (!made.ok) {
    emit({ stream: "compaction", phase: "end", note: `not summarized: ${made.reason}` });
    return { ok: false, note: made.reason };
  }
  const { key, sessionId } = sessionRef.record;
  await store.together(() =>
    Promise.all([
      store.transcript.append(sessionId, [{ id: newId(), type: "compaction", at: clock.now(), body: made.body }]),
      store.sessions.update(key, (current) =>
        current === undefined
          ? undefined
          : { ...current, entry: { ...current.entry, compactionCount: countOf(current) + 1 } },
      ),
    ]),
  );
  const note = `${made.summarized} older messages were replaced by a summary, ${made.kept} stay unchanged`;
  emit({ stream: "compaction", phase: "end", note });
  emit({ stream: "notice", text: note });
  return { ok: true, history: await histories.load(sessionId, ports.contextWindow), kept: made.kept, note };
}

async function clearResults(
  sessionRef: SessionRef,
  deps: ShrinkDeps,
  ports: CompactionPorts,
  why: string,
): Promise<Shrunk | undefined> {
  const { store, histories, clock, emit } = deps;
  const { sessionId } = sessionRef.record;
  const before = tokensIn(messagesOf(await currentHistory(sessionRef, deps, ports)));
  const prune = { id: newId(), type: "prune", at: clock.now(), body: { reason: `too long for the model${why}` } };
  await store.transcript.append(sessionId, [prune]);
  const messages = messagesOf(await histories.load(sessionId, ports.contextWindow));
  if (tokensIn(messages) > before * 0.8) return undefined;
  const note = `the conversation was too long for the model${why}; old tool results were cleared`;
  emit({ stream: "notice", text: note });
  return { messages, how: "cleared", note };
}

/** The old transcript stays under its id; the key gets a new one. */
async function archiveSession(
  sessionRef: SessionRef,
  { store, histories, clock, emit }: ShrinkDeps,
  current: readonly TranscriptEntry[] = [],
  why: string,
): Promise<Shrunk> {
  const old = sessionRef.record.sessionId;
  const now = clock.now();
  sessionRef.record = await resetSession(store.sessions, sessionRef.record.key, now);
  histories.forget(old);
  const note = `the conversation was too long for the model${why} and could not be shortened; it was archived as session ${old}, and a new session started`;
  const entries: TranscriptEntry[] = [
    {
      id: newId(),
      type: "custom_message",
      at: now,
      body: { customType: "archived", content: `[${note}]`, archived: old },
    },
    ...current.map((entry) => ({ ...entry, id: newId() })),
  ];
  await store.transcript.append(sessionRef.record.sessionId, entries);
  emit({ stream: "notice", text: note });
  const history = await histories.load(sessionRef.record.sessionId, Infinity);
  return { messages: messagesOf(history), how: "archived", note };
}

/** Includes entries that are not stored yet. */
async function currentHistory(
  { record }: SessionRef,
  { store, histories }: ShrinkDeps,
  { contextWindow }: CompactionPorts,
): Promise<History> {
  await store.settle();
  return histories.load(record.sessionId, contextWindow * 2);
}

function countOf({ entry }: SessionRecord): number {
  return typeof entry["compactionCount"] === "number" ? entry["compactionCount"] : 0;
}
