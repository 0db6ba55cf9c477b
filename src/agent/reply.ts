// The reply as people get it: without silence tokens and without thinking that was written as tags.
import type { TurnRequest } from "../session/turns.ts";
import { ackedPrefix, ackedTail, mayBecomeAck, splitAck } from "./heartbeat/ack.ts";

const SILENT = "NO_REPLY";

/** Whole replies in an exchange between sessions: one ends it, the other keeps its result out of the chat. */
const talkTokens = ["REPLY_SKIP", "ANNOUNCE_SKIP"] as const;

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

/** What people see of a reply: of a heartbeat only reports, of others everything but stray tokens. */
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
  /** Text that was held back and is shown after all. */
  end(): string;
  /** The whole text so far. */
  readonly text: string;
}

const tag = /<(\/?)(think|thinking|thought)>/i;
const longestTag = "</thinking>".length;

export function createReplyText(): ReplyText {
  let held = "";
  let text = "";
  let shown = 0;
  let inThought = false;

  const settle = (final: boolean): void => {
    for (let match = tag.exec(held); match !== null; match = tag.exec(held)) {
      if (!inThought) text += held.slice(0, match.index);
      held = held.slice(match.index + match[0].length);
      inThought = match[1] === "";
      if (!inThought && text === "") held = held.trimStart();
    }
    const maybe = held.lastIndexOf("<");
    const keep = !final && maybe >= 0 && held.length - maybe < longestTag ? held.length - maybe : 0;
    const clear = held.slice(0, held.length - keep);
    if (!inThought) text += clear;
    held = held.slice(clear.length);
  };

  const release = (held: number): string => {
    const from = shown === 0 ? ackedPrefix(text) : shown;
    const to = Math.max(from, text.length - held);
    shown = to;
    return text.slice(from, to);
  };

  return {
    push(delta) {
      held += delta;
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
  return isSilent(text) || [SILENT, ...talkTokens].some((token) => token.startsWith(start));
}
