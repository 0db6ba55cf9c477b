// Reads the newest messages of a session, limited in count and bytes.
import { textOf, type Message } from "../core/message.ts";
import type { Mask } from "../base/mask.ts";
import { redactValues } from "../base/redact-values.ts";
import type { SessionRecord, StoredEntry, TranscriptTable } from "../store/store.ts";
import { commandMessagesOf } from "./command-messages.ts";
import { silentTurnOf } from "./silent-turn.ts";
import { unansweredOf } from "./unanswered-messages.ts";

export interface HistoryQuery {
  readonly limit: number;
  readonly includeTools: boolean;
  /** Chat commands and their answers, for people; models do not read them. */
  readonly includeCommands?: boolean;
  readonly maxBytes: number;
  /** Redacts secrets; absent when the session itself reads. */
  readonly mask?: Mask | undefined;
}

export interface History {
  /** Oldest first, in transcript form. */
  readonly messages: readonly Message[];
  /** Older messages were dropped because of the byte limit. */
  readonly dropped: boolean;
  /** Parts of messages were dropped. */
  readonly cut: boolean;
  /** Secrets were redacted. */
  readonly redacted: boolean;
  readonly bytes: number;
}

const PAGE = 100;
/** Limits how far a transcript that is all tool results is read. */
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
  let anyHidden = false;
  let seen = 0;
  // Silent turns are skipped, from their mark back to the entry they began with.
  let hiddenTo: string | undefined;
  const ended = (dropped: boolean): History => {
    const messages = kept.reverse();
    const shown = query.mask === undefined ? messages : withoutSecrets(messages, query.mask);
    return { messages: shown, dropped, cut: anyCut, redacted: anyHidden || shown !== messages, bytes };
  };
  for (;;) {
    const page = await transcript.tail(record.sessionId, PAGE, before);
    seen += page.length;
    if (page.length === 0) return ended(false);
    for (const entry of page.toReversed()) {
      hiddenTo ??= silentTurnOf(entry)?.from;
      const messages = messagesOf(entry, query, hiddenTo !== undefined);
      if (entry.id === hiddenTo) hiddenTo = undefined;
      for (const message of messages.toReversed()) {
        const { message: short, cut, hidden } = shorten(message, query.mask);
        const size = JSON.stringify(short).length;
        const full = bytes + size > query.maxBytes;
        if (kept.length >= query.limit || full) return ended(full);
        kept.push(short);
        bytes += size;
        anyCut ||= cut;
        anyHidden ||= hidden;
      }
    }
    if (seen >= MAX_SEEN) return ended(true);
    before = page[0]?.seq;
  }
}

/** The last message, for lists. */
export async function lastText(
  transcript: TranscriptTable,
  record: SessionRecord,
  maxChars: number,
  mask?: Mask,
): Promise<string | undefined> {
  const { messages } = await readHistory(transcript, record, { limit: 1, includeTools: false, maxBytes: 64_000, mask });
  const last = messages.at(-1);
  return last === undefined ? undefined : textOf(last.content).slice(0, maxChars).toWellFormed();
}

/** Oldest first. What a person wrote during a silent turn is not part of that turn. */
function messagesOf(entry: StoredEntry, query: HistoryQuery, isInSilentTurn: boolean): readonly Message[] {
  if (entry.type === "message") {
    const message = entry.body as Message;
    return isInSilentTurn || (message.role === "toolResult" && !query.includeTools) ? [] : [message];
  }
  const unanswered = unansweredOf(entry);
  if (unanswered !== undefined) return [unanswered];
  return query.includeCommands === true ? commandMessagesOf(entry) : [];
}

const MAX_BLOCK_CHARS = 16_000;
/** Longer than a secret in any of its encodings, because a mask cannot recognize half of one. */
const MARGIN_CHARS = 16_384;

function shorten(message: Message, mask: Mask | undefined): { message: Message; cut: boolean; hidden: boolean } {
  let cut = false;
  let hidden = false;
  const content = message.content.map((block) => {
    if (block.type === "image") {
      cut = true;
      return { type: "text" as const, text: "[image]" };
    }
    if (block.type !== "text" || block.text.length <= MAX_BLOCK_CHARS) return block;
    cut = true;
    const head = block.text.slice(0, MAX_BLOCK_CHARS + MARGIN_CHARS);
    const shown = mask === undefined ? head : mask(head);
    hidden ||= shown !== head;
    return {
      type: "text" as const,
      text: `${shown.slice(0, MAX_BLOCK_CHARS).toWellFormed()}… [${block.text.length - MAX_BLOCK_CHARS} more characters]`,
    };
  });
  return { message: { ...message, content } as Message, cut, hidden };
}

/** Returns the same array when there is nothing to redact. */
function withoutSecrets(messages: readonly Message[], mask: Mask): readonly Message[] {
  // Most messages contain no secret, and one test of the whole text is much cheaper than one per part.
  const words = wordsIn(messages).join("\n");
  const plain = mask(words) === words ? (text: string) => text : mask;
  return redactValues(
    messages,
    Object.assign((text: string) => plain(text), { command: mask.command }),
  );
}

function wordsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(wordsIn) : [];
}
