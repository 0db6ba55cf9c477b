// How far a turn is trusted, from the messages that led to it (docs/decisions/0042-trust-travels-with-the-turn.md).
import { factsOfSource, type Trust } from "../core/turn-source.ts";
import type { InboxEntry, Store } from "../store/store.ts";
import { turnOf } from "./inbox.ts";
import type { TurnRequest } from "./turns.ts";

/**
 * The lowest trust among the messages of a turn, including those merged into it or read while it ran. A call outside of
 * any turn comes from an authenticated client and is the owner's.
 */
export async function trustOf(store: Store, turn: string): Promise<Trust> {
  const messages = await messagesOf(store, turn);
  const levels = messages.map((message) => trustOfMessage(message));
  if (levels.includes("untrusted")) return "untrusted";
  const isVouchedFor = messages.every((message) => message.authorised === true);
  if (!isVouchedFor && isMarkedUntrusted((await store.runs.get(turn))?.body)) return "untrusted";
  return levels.every((level) => level === "owner") ? "owner" : "agent";
}

/** The source of the first message of a turn that no authorised sender wrote. */
export async function unauthorisedSource(store: Store, turn: string): Promise<string | undefined> {
  const message = (await messagesOf(store, turn)).find(({ authorised }) => authorised !== true);
  return message === undefined ? undefined : (message.source ?? UNKNOWN);
}

/** Whether a stored row says that other people or programs led to it. Rows of earlier releases name the field `outside`. */
export function isMarkedUntrusted(row: unknown): boolean {
  const { untrusted, outside } = (row ?? {}) as { readonly untrusted?: unknown; readonly outside?: unknown };
  return untrusted === true || outside === true;
}

/** Compares with `true`, because a stored row can contain any value. */
function trustOfMessage(message: Partial<TurnRequest>): Trust {
  if (isMarkedUntrusted(message)) return "untrusted";
  if (message.authorised === true) return message.admin === true ? "owner" : "agent";
  return factsOfSource(message.source ?? UNKNOWN).trust;
}

const UNKNOWN = "unknown";

/** A row that cannot be read is a message without any field. */
async function messagesOf(store: Store, turn: string): Promise<Partial<TurnRequest>[]> {
  const own = await store.inbox.get(turn);
  if (own === undefined) return [];
  const run = await store.runs.get(turn);
  const { merged = [], overheard = [] } = (run?.body ?? {}) as Partial<Record<"merged" | "overheard", string[]>>;
  const others = await Promise.all([...merged, ...overheard].map((id) => store.inbox.get(id)));
  return [own, ...others.filter((entry): entry is InboxEntry => entry !== undefined)].map(
    (entry) => turnOf<TurnRequest>(entry) ?? {},
  );
}
