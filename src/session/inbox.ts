// The inbox: a turn becomes a row before anything happens, and posting it again finds the same row.
import { newId } from "../base/ids.ts";
import type { RunOutcome } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import type { InboxTable, Letter } from "../store/store.ts";

export interface Posted {
  readonly fresh: boolean;
  readonly acceptedAt: number;
  /** When it ended already. */
  readonly outcome?: RunOutcome;
}

interface LetterBody {
  readonly turn: unknown;
  /** Tells the first posting of an id from the later ones. */
  readonly nonce: string;
}

export async function postLetter(
  inbox: InboxTable,
  turn: { readonly runId: string; readonly sessionKey: SessionKey },
  now: number,
): Promise<Posted> {
  const body: LetterBody = { turn, nonce: newId() };
  const letter = await inbox.post({ id: turn.runId, sessionKey: turn.sessionKey, runId: turn.runId, at: now, body });
  const fresh = (letter.body as Partial<LetterBody> | undefined)?.nonce === body.nonce;
  const isOver = letter.state === "done" || letter.state === "failed";
  return { fresh, acceptedAt: letter.at, ...(isOver ? { outcome: letter.result as RunOutcome } : {}) };
}

/** Undefined when the row holds no turn of this session: a damaged or foreign letter. */
export function turnOf<T extends { readonly runId: string; readonly sessionKey: SessionKey; readonly text: string }>(
  letter: Letter,
): T | undefined {
  const turn = (letter.body as Partial<LetterBody> | null)?.turn as Partial<T> | undefined;
  const fits = turn?.runId === letter.runId && turn.sessionKey === letter.sessionKey && typeof turn.text === "string";
  return fits ? (turn as T) : undefined;
}
