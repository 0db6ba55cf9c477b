// Indexes where lines begin in a stream of bytes: counted on arrival, stored sparsely, so that any page is found with a
// short scan.
import { isAscii } from "node:buffer";

/** A longer line is split, so that output without newlines has pages too. */
export const MAX_LINE_BYTES = 65_536;
const NEWLINE = 10;

export interface LineIndex {
  /** Adds the next bytes: at most MAX_LINE_BYTES, 4-byte aligned in their buffer. */
  add(bytes: Uint8Array): void;
  /** Stores where the current line begins. */
  mark(): void;
  readonly bytes: number;
  /** Includes the current line. */
  readonly lines: number;
  readonly characters: number;
  /** The last stored line start at or before `line`. */
  before(line: number): { readonly line: number; readonly offset: number };
  /** The line number of the last stored line start at or before `offset`. */
  lineAt(offset: number): number;
}

export function createLineIndex(): LineIndex {
  const marks: Mark[] = [{ line: 0, offset: 0 }];
  let bytes = 0;
  let complete = 0;
  let lineStart = 0;
  let continuations = 0;

  return {
    add(chunk) {
      const count = countNewlines(chunk);
      const first = count === 0 ? chunk.length : chunk.indexOf(NEWLINE);
      // Only the line that began in an earlier chunk can be too long; all others fit into this chunk.
      const overlong = Math.floor((bytes + first - lineStart) / MAX_LINE_BYTES);
      complete += overlong + count;
      lineStart = count === 0 ? lineStart + overlong * MAX_LINE_BYTES : bytes + chunk.lastIndexOf(NEWLINE) + 1;
      bytes += chunk.length;
      if (!isAscii(chunk)) continuations += countContinuations(chunk);
    },
    mark() {
      if (marks.at(-1)?.line !== complete) marks.push({ line: complete, offset: lineStart });
    },
    get bytes() {
      return bytes;
    },
    get lines() {
      return complete + (bytes > lineStart ? 1 : 0);
    },
    get characters() {
      return bytes - continuations;
    },
    before: (line) => lastMark(marks, (mark) => mark.line <= line),
    lineAt: (offset) => lastMark(marks, (mark) => mark.offset <= offset).line,
  };
}

interface Mark {
  readonly line: number;
  readonly offset: number;
}

function lastMark(marks: readonly Mark[], isEarly: (mark: Mark) => boolean): Mark {
  let [low, high] = [0, marks.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const mark = marks[middle];
    if (mark !== undefined && isEarly(mark)) low = middle;
    else high = middle - 1;
  }
  return marks[low] ?? { line: 0, offset: 0 };
}

/** The offset after the line that begins at `start`, newline included; -1 when the bytes end before the line does. */
export function endOfLine(bytes: Uint8Array, start: number): number {
  const newline = bytes.indexOf(NEWLINE, start);
  if (newline !== -1 && newline - start < MAX_LINE_BYTES) return newline + 1;
  return bytes.length - start >= MAX_LINE_BYTES ? start + MAX_LINE_BYTES : -1;
}

// Counts four bytes per step: `yes` writes a newline every other byte, and a search per line would take seconds.
function countNewlines(bytes: Uint8Array): number {
  return countWords(bytes, newlinesIn, (byte) => byte === NEWLINE);
}

function countContinuations(bytes: Uint8Array): number {
  return countWords(bytes, continuationsIn, (byte) => (byte & 0xc0) === 0x80);
}

function countWords(bytes: Uint8Array, inWord: (words: Int32Array) => number, isHit: (byte: number) => boolean) {
  const length = bytes.length >> 2;
  const whole = inWord(new Int32Array(bytes.buffer, bytes.byteOffset, length));
  let rest = 0;
  for (let at = length << 2; at < bytes.length; at += 1) if (isHit(bytes[at] ?? 0)) rest += 1;
  return whole + rest;
}

function newlinesIn(words: Int32Array): number {
  let count = 0;
  for (let at = 0; at < words.length; at += 1) {
    const zeroed = (words[at] as number) ^ 0x0a0a0a0a;
    const hits = ~(((zeroed & 0x7f7f7f7f) + 0x7f7f7f7f) | zeroed | 0x7f7f7f7f);
    count += Math.imul(hits >>> 7, 0x01010101) >>> 24;
  }
  return count;
}

function continuationsIn(words: Int32Array): number {
  let count = 0;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as number;
    const hits = word & ~(word << 1) & 0x80808080;
    count += Math.imul(hits >>> 7, 0x01010101) >>> 24;
  }
  return count;
}
