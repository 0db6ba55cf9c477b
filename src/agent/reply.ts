// The reply as people get it: the silent token holds its tongue, and thinking written as tags is taken out.

export const SILENT = "NO_REPLY";

/** A reply that is or begins with the token is for nobody. */
export function isSilent(text: string): boolean {
  return /^\s*NO_REPLY(?![A-Za-z0-9_])/.test(text);
}

export interface ReplyText {
  /** What may be shown of this delta; empty while it could still turn out to be silence or a tag. */
  push(delta: string): string;
  /** What was held back and is text after all. */
  end(): string;
  /** All that counts as text so far. */
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

  const release = (): string => {
    const ready = text.slice(shown);
    shown = text.length;
    return ready;
  };

  return {
    push(delta) {
      held += delta;
      settle(false);
      return mayBeSilent(text) ? "" : release();
    },
    end() {
      settle(true);
      return isSilent(text) ? "" : release();
    },
    get text() {
      return text;
    },
  };
}

function mayBeSilent(text: string): boolean {
  const start = text.trimStart();
  return isSilent(text) || SILENT.startsWith(start);
}
