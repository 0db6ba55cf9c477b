// The history of a session as a model reads it: the end of the transcript, as far as it fits.
import type { Block, Message, UserMessage } from "../core/message.ts";
import { Lru } from "../base/lru.ts";
import { silentTurnOf } from "../session/silent-turn.ts";
import type { StoredEntry, TranscriptTable } from "../store/store.ts";
import { tokensOf } from "./estimate.ts";
import { cutText } from "./result.ts";

/** A message of the history with its position in the transcript. */
export interface Item {
  readonly id: string;
  readonly message: Message;
  readonly tokens: number;
}

export interface History {
  readonly items: readonly Item[];
  readonly summary: string | undefined;
  readonly lastSeq: number;
  /** Older entries were not read, because they would not fit. */
  readonly isPartial: boolean;
}

export interface CompactionBody {
  readonly summary: string;
  readonly firstKeptEntryId: string | null;
  readonly tokensBefore: number;
}

/**
 * Stored user messages may carry the time stamp that the model reads before the text, and their source when
 * no person wrote them (`sourceOnRecord`).
 */
export type StampedMessage = UserMessage & { readonly stamp?: string; readonly source?: string };

export interface Histories {
  /** Limited to about `maxTokens`. */
  load(sessionId: string, maxTokens: number): Promise<History>;
  forget(sessionId: string): void;
}

const PAGE = 100;
const CACHED_SESSIONS = 32;
const CACHED_TOKENS = 300_000;

/** Caches recent sessions and reads only new entries. */
export function createHistories(transcript: TranscriptTable): Histories {
  const cache = new Lru<History & { readonly readTokens: number }>(CACHED_SESSIONS);
  return {
    async load(sessionId, maxTokens) {
      const cached = cache.get(sessionId);
      // A history that was read for a small window is too short for a large one.
      const known = cached?.isPartial === true && cached.readTokens < maxTokens ? undefined : cached;
      const count = await transcript.count(sessionId);
      if (known !== undefined && known.lastSeq === count) return known;
      const since = known === undefined ? Infinity : count - known.lastSeq;
      const history =
        known !== undefined && since > 0 && since <= PAGE * 4
          ? withEntries(known, await transcript.tail(sessionId, since))
          : await readBack(transcript, sessionId, maxTokens);
      const size = history.items.reduce((sum, { tokens }) => sum + tokens, 0);
      if (size <= CACHED_TOKENS) cache.set(sessionId, { ...history, readTokens: known?.readTokens ?? maxTokens });
      else cache.delete(sessionId);
      return history;
    },
    forget: (sessionId) => cache.delete(sessionId),
  };
}

async function readBack(transcript: TranscriptTable, sessionId: string, maxTokens: number): Promise<History> {
  const pages: StoredEntry[][] = [];
  let tokens = 0;
  let until: string | null | undefined;
  let isPartial = false;
  let before: number | undefined;
  reading: for (;;) {
    const page = await transcript.tail(sessionId, PAGE, before);
    for (let at = page.length - 1; at >= 0; at--) {
      const entry = page[at];
      if (entry === undefined) continue;
      // One message counts for at most half a window, because it is cut to that when it is sent.
      tokens += Math.min(tokensOfEntry(entry), maxTokens / 2);
      const tooMuch = tokens > maxTokens;
      if (entry.id === until || tooMuch) {
        isPartial = tooMuch && entry.id !== until;
        pages.push(page.slice(tooMuch ? at + 1 : at));
        break reading;
      }
      if (entry.type === "compaction" && until === undefined) {
        until = (entry.body as CompactionBody).firstKeptEntryId;
        // A compaction that kept no messages makes everything before it unnecessary.
        if (until === null) {
          pages.push(page.slice(at));
          break reading;
        }
      }
    }
    pages.push(page);
    before = page[0]?.seq;
    if (page.length < PAGE || before === undefined || before === 1) break;
  }
  const entries = pages.toReversed().flat();
  const empty: History = { items: [], summary: undefined, lastSeq: entries.at(-1)?.seq ?? 0, isPartial };
  return withEntries(empty, entries);
}

function tokensOfEntry(entry: StoredEntry): number {
  const message = messageOf(entry);
  return message === undefined ? 0 : tokensOf(message);
}

function withEntries(history: History, entries: readonly StoredEntry[]): History {
  let { summary, lastSeq } = history;
  let items = [...history.items];
  // An older compaction can point before the part that was read; the last one is enough.
  const last = entries.findLast(({ type }) => type === "compaction");
  for (const entry of entries) {
    lastSeq = Math.max(lastSeq, entry.seq);
    const message = messageOf(entry);
    if (message !== undefined) items.push({ id: entry.id, message, tokens: tokensOf(message) });
    else if (entry.type === "prune") items = items.map((item) => pruned(item));
    else if (silentTurnOf(entry)?.forget === true) items = without(items, silentTurnOf(entry)?.from);
    else if (entry === last) {
      const body = entry.body as CompactionBody;
      const first = items.findIndex(({ id }) => id === body.firstKeptEntryId);
      items = first === -1 ? [] : items.slice(first);
      summary = body.summary;
    }
  }
  return { ...history, items, summary, lastSeq };
}

/** A heartbeat without a report is not sent again. */
function without(items: Item[], from: string | undefined): Item[] {
  const first = items.findLastIndex(({ id }) => id === from);
  return first === -1 ? items : items.slice(0, first);
}

function messageOf({ type, body, at }: StoredEntry): Message | undefined {
  if (type === "message") return stampedMessage(body as Message);
  if (type !== "custom_message") return undefined;
  const { content } = body as { content: string | readonly Block[] };
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return { role: "user", content: blocks, timestamp: at };
}

/** With its time stamp, when it was stored with one. */
export function stampedMessage(message: Message): Message {
  if (message.role !== "user") return message;
  const { stamp, source: _source, ...rest } = message as StampedMessage;
  if (stamp === undefined) return rest;
  const [first, ...others] = rest.content;
  const content: Block[] =
    first?.type === "text" ? [{ type: "text", text: `${stamp}${first.text}` }, ...others] : [...rest.content];
  return { ...rest, content };
}

const PRUNED_CHARS = 400;

function pruned(item: Item): Item {
  if (item.message.role !== "toolResult" || item.tokens < PRUNED_CHARS / 2) return item;
  const content = item.message.content.map((block): Block =>
    block.type === "image"
      ? { type: "text", text: "[image removed to save space]" }
      : { type: "text", text: cutText(block.text, PRUNED_CHARS, () => " Removed to save space.") },
  );
  const message = { ...item.message, content };
  return { ...item, message, tokens: tokensOf(message) };
}

/** The summary is sent as the first user message. */
export function messagesOf({ summary, items }: Pick<History, "summary" | "items">): Message[] {
  const messages = items.map(({ message }) => message);
  if (summary === undefined) return messages;
  const text = `[Summary of the conversation before this point]\n${summary}`;
  return [{ role: "user", content: [{ type: "text", text }], timestamp: 0 }, ...messages];
}
