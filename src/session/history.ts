// The messages of a session, newest end first chosen, bounded in count and bytes.
import { textOf, type Message } from "../core/message.ts";
import type { SessionRecord, StoredEntry, TranscriptTable } from "../store/store.ts";
import { quietOf } from "./quiet.ts";
import { unansweredOf } from "./unanswered.ts";

export interface HistoryQuery {
  readonly limit: number;
  readonly includeTools: boolean;
  readonly maxBytes: number;
}

export interface History {
  /** Oldest first, in transcript form. */
  readonly messages: readonly Message[];
  /** Older messages were left out to stay within the bytes. */
  readonly dropped: boolean;
  /** Parts of messages were left out. */
  readonly cut: boolean;
  readonly bytes: number;
}

const PAGE = 100;
/** A transcript that is all tool results must not be read to its beginning for a few words. */
const MAX_SEEN = 5000;

export async function readHistory(
  transcript: TranscriptTable,
  record: SessionRecord,
  query: HistoryQuery,
): Promise<History> {
  const kept: Message[] = [];
  let bytes = 0;
  let before: number | undefined;
  let anyCut = false;
  let seen = 0;
  // Turns that were for nobody are left out: from their mark back to the entry they began with.
  let hiddenTo: string | undefined;
  for (;;) {
    const page = await transcript.tail(record.sessionId, PAGE, before);
    seen += page.length;
    if (page.length === 0) return { messages: kept.reverse(), dropped: false, cut: anyCut, bytes };
    for (const entry of page.toReversed()) {
      hiddenTo ??= quietOf(entry)?.from;
      // What a person wrote meanwhile, and got no answer to, is no part of such a turn.
      const message =
        unansweredOf(entry) ?? (hiddenTo === undefined ? toMessage(entry, query.includeTools) : undefined);
      if (entry.id === hiddenTo) hiddenTo = undefined;
      if (message === undefined) continue;
      const { message: short, cut } = shorten(message);
      const size = JSON.stringify(short).length;
      const full = bytes + size > query.maxBytes;
      if (kept.length >= query.limit || full) return { messages: kept.reverse(), dropped: full, cut: anyCut, bytes };
      kept.push(short);
      bytes += size;
      anyCut ||= cut;
    }
    if (seen >= MAX_SEEN) return { messages: kept.reverse(), dropped: true, cut: anyCut, bytes };
    before = page[0]?.seq;
  }
}

/** The last words said, for lists. */
export async function lastText(
  transcript: TranscriptTable,
  record: SessionRecord,
  maxChars: number,
): Promise<string | undefined> {
  const { messages } = await readHistory(transcript, record, { limit: 1, includeTools: false, maxBytes: 64_000 });
  const last = messages.at(-1);
  return last === undefined ? undefined : textOf(last.content).slice(0, maxChars).toWellFormed();
}

function toMessage(entry: StoredEntry, includeTools: boolean): Message | undefined {
  if (entry.type !== "message") return undefined;
  const message = entry.body as Message;
  if (message.role === "toolResult" && !includeTools) return undefined;
  return message;
}

const MAX_BLOCK_CHARS = 16_000;

function shorten(message: Message): { message: Message; cut: boolean } {
  let cut = false;
  const content = message.content.map((block) => {
    if (block.type === "image") {
      cut = true;
      return { type: "text" as const, text: "[image]" };
    }
    if (block.type !== "text" || block.text.length <= MAX_BLOCK_CHARS) return block;
    cut = true;
    return {
      type: "text" as const,
      text: `${block.text.slice(0, MAX_BLOCK_CHARS).toWellFormed()}… [${block.text.length - MAX_BLOCK_CHARS} more characters]`,
    };
  });
  return { message: { ...message, content } as Message, cut };
}
