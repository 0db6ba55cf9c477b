// The reply as people get it: without silence tokens and without thinking that was written as tags.
import type { TurnRequest } from "../session/turns.ts";
import { ackedPrefix, ackedTail, mayBecomeAck, splitAck } from "./heartbeat/ack.ts";

const SILENT = "NO_REPLY";

/** Whole replies in an exchange between sessions: the first ends it, the second posts no announcement. */
const exchangeTokens = ["REPLY_SKIP", "ANNOUNCE_SKIP"] as const;

/** A reply that is or begins with the token is not shown. */
export function isSilent(text: string): boolean {
  return /^\s*(?:NO_REPLY(?![A-Za-z0-9_])|(?:REPLY_SKIP|ANNOUNCE_SKIP)\s*$)/.test(text);
}

export interface Judged {
  readonly text: string;
  readonly silent: boolean;
  /** A token was found where none was requested. */
  readonly stray?: true;
}

/** What people see of a reply: only reports of a heartbeat, and other replies without stray tokens. */
export function judgeReply(text: string, heartbeat?: TurnRequest["heartbeat"]): Judged {
  if (isSilent(text) || text.trim() === "") return { text: "", silent: true };
  const { acked, rest } = splitAck(text);
  const quiet = { text: "", silent: true } as const;
  if (heartbeat === undefined) {
    if (!acked) return { text, silent: false };
    return rest === "" ? { ...quiet, stray: true } : { text: rest, silent: false, stray: true };
  }
  if (acked && rest.length <= heartbeat.ackMaxChars) return quiet;
  return rest.trim() === heartbeat.told?.trim() ? quiet : { text: rest, silent: false };
}

export interface ReplyText {
  /** The part of this delta that may be shown; empty while it could still become a token or a tag. */
  push(delta: string): string;
  /** Buffered text that turned out to be neither a token nor a tag. */
  end(): string;
  /** The whole text so far. */
  readonly text: string;
}

const tag = /<(\/?)(think|thinking|thought)>/i;
const longestTag = "</thinking>".length;

export function createReplyText(): ReplyText {
  let buffer = "";
  let text = "";
  let shown = 0;
  let inThought = false;

  const settle = (final: boolean): void => {
    for (let match = tag.exec(buffer); match !== null; match = tag.exec(buffer)) {
      if (!inThought) text += buffer.slice(0, match.index);
      buffer = buffer.slice(match.index + match[0].length);
      inThought = match[1] === "";
      if (!inThought && text === "") buffer = buffer.trimStart();
    }
    const maybe = buffer.lastIndexOf("<");
    const keep = !final && maybe >= 0 && buffer.length - maybe < longestTag ? buffer.length - maybe : 0;
    const clear = buffer.slice(0, buffer.length - keep);
    if (!inThought) text += clear;
    buffer = buffer.slice(clear.length);
  };

  const release = (tailLength: number): string => {
    const from = shown === 0 ? ackedPrefix(text) : shown;
    const to = Math.max(from, text.length - tailLength);
    shown = to;
    return text.slice(from, to);
  };

  return {
    push(delta) {
      buffer += delta;
      settle(false);
      return mayBeSilent(text) || mayBecomeAck(text) ? "" : release(ackedTail(text));
    },
    end() {
      settle(true);
      return isSilent(text) ? "" : release(strayTail(text));
    },
    get text() {
      return text;
    },
  };
}

function strayTail(text: string): number {
  const body = text.slice(ackedPrefix(text));
  const { acked, rest } = splitAck(body);
  return acked ? body.length - body.indexOf(rest) - rest.length : 0;
}

function mayBeSilent(text: string): boolean {
  const start = text.trimStart();
  return isSilent(text) || [SILENT, ...exchangeTokens].some((token) => token.startsWith(start));
}
