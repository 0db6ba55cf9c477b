// Captures what a command writes and serves it as the end, new text, or pages of lines. Bytes are stored; text is made
// on reading.
import { isAscii } from "node:buffer";

import { createLineIndex, endOfLine, MAX_LINE_BYTES, type LineIndex } from "./line-index.ts";
import { BLOCK_BYTES, createByteStore, type ByteStore } from "./output-bytes.ts";
import type { Output } from "./running.ts";
import { characterStart, safeText, safeTextSoFar } from "./safe-text.ts";

/** The size of one page of lines; the rest comes with the next page. */
const MAX_PAGE_BYTES = 1_048_576;
const MAX_FILE_BYTES = 2_147_483_648;
const PENDING_CHARS = 30_000;

export interface OutputOptions {
  /** Creates the folder if needed and returns a new path. */
  readonly filePath: () => Promise<string>;
  readonly maxFileBytes?: number;
  readonly pendingChars?: number;
}

export interface CapturedOutput extends Output {
  readonly totalBytes: number;
  /** Copies the bytes; false means: stop until `onDrain`. */
  append(bytes: Uint8Array): boolean;
  onDrain: () => void;
  /** Called when the output is complete. */
  finish(): void;
  /** The bytes as the program wrote them; dropped bytes are skipped. */
  raw(from: number, to: number): Promise<Buffer>;
}

export function createOutput(options: OutputOptions): CapturedOutput {
  const { maxFileBytes = MAX_FILE_BYTES, pendingChars = PENDING_CHARS } = options;
  const index = createLineIndex();
  const store = createByteStore({
    filePath: options.filePath,
    maxFileBytes,
    onSealed: () => index.mark(),
    onDrain: () => self.onDrain(),
  });
  let drained = 0;
  let finished = false;
  let discarded = false;
  let counted = { bytes: 0, chars: 0 };

  const self: CapturedOutput = {
    get totalBytes() {
      return store.length;
    },
    get totalLines() {
      return index.lines;
    },
    get totalChars() {
      if (index.bytes > BLOCK_BYTES || discarded) return index.characters;
      if (counted.bytes !== index.bytes) {
        counted = { bytes: index.bytes, chars: safeText(store.readSync(0, index.bytes)).length };
      }
      return counted.chars;
    },
    onDrain: () => {},
    append(bytes) {
      if (discarded) return true;
      let canTakeMore = true;
      for (let at = 0; at < bytes.length; at += MAX_LINE_BYTES) {
        const slice = aligned(bytes.subarray(at, at + MAX_LINE_BYTES));
        // The store comes first, because it marks the line that a new block begins with.
        canTakeMore = store.add(slice);
        index.add(slice);
      }
      return canTakeMore;
    },
    finish() {
      finished = true;
    },
    tail(chars) {
      const lastOf = (bytes: number): string => {
        const read = store.readSync(Math.max(0, store.length - bytes), store.length);
        const text = safeText(read.subarray(store.length > bytes ? characterStart(read, 0) : 0));
        return text.length <= chars ? text : text.slice(text.length - chars).toWellFormed();
      };
      const guess = lastOf(Math.ceil(chars * 1.25) + 256);
      return guess.length >= chars ? guess : lastOf(chars * 4 + 4096);
    },
    drain() {
      const end = store.length;
      const from = Math.max(drained, end - pendingChars * 4);
      const read = store.readSync(from, end);
      const fresh = read.subarray(from > drained ? characterStart(read, 0) : 0);
      const { text, used } = finished ? { text: safeText(fresh), used: fresh.length } : safeTextSoFar(fresh);
      const skipped = end - drained - fresh.length;
      drained = end - (fresh.length - used);
      const cut = Math.max(0, text.length - pendingChars);
      return { text: text.slice(cut).toWellFormed(), dropped: skipped + cut };
    },
    async lines(offset, limit) {
      return discarded ? [] : readLines(store, index, offset, limit);
    },
    raw: (from, to) => store.read(from, to),
    async discard() {
      discarded = true;
      await store.discard();
    },
  };
  return self;
}

async function readLines(store: ByteStore, index: LineIndex, offset: number, limit: number): Promise<string[]> {
  const found: string[] = [];
  let { line, offset: at } = index.before(offset);
  let size = 0;
  while (found.length < limit && at < store.length && size < MAX_PAGE_BYTES) {
    const gap = store.gap();
    if (gap !== undefined && at >= gap.from && at < gap.to) {
      line = index.lineAt(gap.to);
      if (offset < line) found.push(`[… ${gap.to - at} bytes were dropped: ${gap.why} …]`);
      at = gap.to;
      continue;
    }
    const end = Math.min(store.length, at + BLOCK_BYTES, gap !== undefined && at < gap.from ? gap.from : Infinity);
    const bytes = await store.read(at, end);
    if (bytes.length === 0) break;
    const plain = plainLines(bytes);
    if (plain.length > 0) {
      const skipped = Math.max(0, offset - line);
      const wanted = plain.slice(skipped, skipped + limit - found.length);
      for (const text of wanted) found.push(text);
      size += wanted.reduce((sum, text) => sum + text.length + 1, 0);
      line += plain.length;
      at += bytes.lastIndexOf(NEWLINE) + 1;
      continue;
    }
    const isLast = end === store.length || end === gap?.from;
    let start = 0;
    while (found.length < limit && start < bytes.length) {
      const next = endOfLine(bytes, start);
      if (next === -1 && !isLast) break; // the next read begins with this line
      const stop = next === -1 ? bytes.length : next;
      if (line >= offset) {
        found.push(lineText(bytes.subarray(start, stop)));
        size += stop - start;
      }
      line += 1;
      start = stop;
    }
    at += start;
  }
  return found;
}

const NEWLINE = 10;
// oxlint-disable-next-line no-control-regex
const special = /[\u0000-\u0008\u000b-\u001f\u007f]/;

/** Returns all complete lines in one step when none needs cleaning, which is the common case. */
function plainLines(bytes: Buffer): readonly string[] {
  const end = bytes.lastIndexOf(NEWLINE);
  if (end === -1 || !isAscii(bytes)) return [];
  const text = bytes.toString("latin1", 0, end);
  if (special.test(text)) return [];
  const lines = text.split("\n");
  return lines.some((one) => one.length >= MAX_LINE_BYTES) ? [] : lines;
}

function lineText(bytes: Buffer): string {
  return safeText(bytes.at(-1) === NEWLINE ? bytes.subarray(0, -1) : bytes).replace(/\n$/, "");
}

let sharedScratch: Buffer | undefined;

/** One shared buffer for all reads; each read is consumed before the next one starts. */
export function scratch(): Buffer {
  sharedScratch ??= Buffer.allocUnsafeSlow(MAX_LINE_BYTES);
  return sharedScratch;
}

/** Lines are counted four bytes at a time, which needs an aligned start. */
function aligned(bytes: Uint8Array): Uint8Array {
  if (bytes.byteOffset % 4 === 0) return bytes;
  const even = scratch();
  even.set(bytes);
  return even.subarray(0, bytes.length);
}
