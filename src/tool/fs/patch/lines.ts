// The lines of a patch between its markers, with their numbers.
import { ToolError } from "../../../core/error.ts";

const MAX_HUNKS = 5_000;

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
export const splitIt = "send several smaller patches";
export const formatHint = `start with ${BEGIN}, then *** Add File:, *** Update File: or *** Delete File: sections, then ${END}`;

export interface Numbered {
  readonly number: number;
  readonly text: string;
}

/** The lines between the markers. Blank lines and a shell here-document around them are ignored. */
function envelope(input: string): Numbered[] {
  const all = input
    .split(hasOnlyCr(input) ? "\r" : "\n")
    .map((text, at): Numbered => ({ number: at + 1, text: text.replace(/\r$/, "") }));
  const lines = withoutHereDocument(trimmed(all));
  const [first, last] = [lines[0], lines.at(-1)];
  if (first?.text.trim() !== BEGIN)
    throw problem("patch.no-begin", first?.number ?? 1, `the patch must begin with "${BEGIN}"`, formatHint);
  const end = lines.findIndex(({ text }) => text.trimEnd() === END);
  if (end === -1 && (last?.text.trim() !== END || lines.length < 2))
    throw problem("patch.no-end", last?.number ?? 1, `the patch must end with "${END}"`, formatHint);
  const after = end === -1 ? undefined : lines[end + 1];
  if (after !== undefined)
    throw problem("patch.after-end", after.number, `there is text after "${END}"`, "send one patch per call");
  return lines.slice(1);
}

/** A patch whose lines end with CR alone. */
const hasOnlyCr = (input: string): boolean => !input.includes("\n") && /^\s*\*\*\* Begin Patch *\r/.test(input);

function trimmed(lines: readonly Numbered[]): Numbered[] {
  const isFull = ({ text }: Numbered): boolean => text.trim() !== "";
  return lines.slice(Math.max(0, lines.findIndex(isFull)), lines.findLastIndex(isFull) + 1);
}

const hereDocument = /^(?:(?:apply_patch|cat)\s+)?<<-?\s*(?:'([\w-]+)'|"([\w-]+)"|([\w-]+))$/;

function withoutHereDocument(lines: readonly Numbered[]): readonly Numbered[] {
  const found = hereDocument.exec(lines[0]?.text.trim() ?? "");
  const word = found?.slice(1).find((name) => name !== undefined);
  return word !== undefined && lines.at(-1)?.text.trim() === word ? trimmed(lines.slice(1, -1)) : lines;
}

export interface Reader {
  /** The next line; undefined at the end marker. */
  peek(): Numbered | undefined;
  next(): Numbered;
  skipBlank(): void;
  atEnd(): boolean;
  line(): number;
  countHunk(): void;
}

/** Throws `patch.no-begin`, `patch.no-end`, `patch.after-end`. */
export function readLines(input: string): Reader {
  const lines = envelope(input);
  let at = 0;
  let hunks = 0;
  const last = lines.length - 1;
  const peek = (): Numbered | undefined => (at < last ? lines[at] : undefined);
  const line = (): number => lines[Math.min(at, last)]?.number ?? 1;
  return {
    peek,
    line,
    atEnd: () => at >= last,
    next() {
      const found = peek();
      if (found === undefined) throw new Error("read past the end of a patch");
      at += 1;
      return found;
    },
    skipBlank() {
      while (peek()?.text.trim() === "") at += 1;
    },
    countHunk() {
      hunks += 1;
      if (hunks > MAX_HUNKS)
        throw problem("patch.too-many-hunks", line(), `the patch has more than ${MAX_HUNKS} hunks`, splitIt);
    },
  };
}

export function problem(code: string, line: number, why: string, hint: string): ToolError {
  return new ToolError(code, `apply_patch, line ${line}: ${why}`, { hint, details: { line } });
}
