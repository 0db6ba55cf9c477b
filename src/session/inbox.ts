// The inbox: a turn is stored before it runs, and posting the same id again finds the same row.
import { newId } from "../base/ids.ts";
import type { RunOutcome } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import type { InboxTable, InboxEntry } from "../store/store.ts";

export interface Posted {
  readonly fresh: boolean;
  readonly acceptedAt: number;
  /** Present when it has already ended. */
  readonly outcome?: RunOutcome;
}

interface EntryBody {
  readonly turn: unknown;
  /** Tells the first post of an id from later ones. */
  readonly nonce: string;
}

export async function postEntry(
  inbox: InboxTable,
  turn: { readonly runId: string; readonly sessionKey: SessionKey },
  now: number,
): Promise<Posted> {
  const body: EntryBody = { turn, nonce: newId() };
  const entry = await inbox.post({ id: turn.runId, sessionKey: turn.sessionKey, runId: turn.runId, at: now, body });
  const fresh = (entry.body as Partial<EntryBody> | undefined)?.nonce === body.nonce;
  const isOver = entry.state === "done" || entry.state === "failed";
  return { fresh, acceptedAt: entry.at, ...(isOver ? { outcome: entry.result as RunOutcome } : {}) };
}

/** Undefined for a damaged row, which contains no turn of this session. */
export function turnOf<T extends { readonly runId: string; readonly sessionKey: SessionKey; readonly text: string }>(
  entry: InboxEntry,
): T | undefined {
  const turn = (entry.body as Partial<EntryBody> | null)?.turn as Partial<T> | undefined;
  const fits = turn?.runId === entry.runId && turn.sessionKey === entry.sessionKey && typeof turn.text === "string";
  return fits ? (turn as T) : undefined;
}
