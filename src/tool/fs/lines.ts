// Reads a window of lines from a byte stream in bounded memory.
import { StringDecoder } from "node:string_decoder";

export interface Window {
  /** First line, from 1. */
  readonly from: number;
  readonly maxLines: number;
  readonly maxBytes: number;
  /** After the window, lines are still counted over this many bytes; beyond it the total stays unknown. */
  readonly countBytes: number;
}

export type EndOfLine = "lf" | "crlf" | "mixed" | "none";

export interface Lines {
  /** Exactly as in the file, line ends included; a byte-order mark is left out, broken UTF-8 is replaced. */
  readonly text: string;
  /** Last line shown; `from - 1` when there is none. */
  readonly to: number;
  /** Lines in the file, if they were counted to the end. */
  readonly total: number | undefined;
  /** More lines follow the window. */
  readonly more: boolean;
  /** The only line shown is longer than the window and was cut. */
  readonly cut: boolean;
  /** Bytes of the file in `text`. */
  readonly bytes: number;
  readonly bom: boolean;
  readonly eol: EndOfLine;
}

const NEWLINE = 0x0a;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Chunks may be split anywhere and are not kept; the source is not read further than needed. */
export async function takeLines(chunks: AsyncIterable<Buffer>, window: Window): Promise<Lines> {
  const state: TakeState = {
    line: 1,
    kept: [],
    bytes: 0,
    shown: 0,
    cut: false,
    full: false,
    counted: 0,
    open: false,
    seen: 0,
  };
  let bom = false;
  let ended = true;
  for await (const chunk of withWholeStart(chunks)) {
    const isFirst = state.seen === 0;
    state.seen += chunk.length;
    bom ||= isFirst && chunk.subarray(0, 3).equals(BOM);
    take(state, isFirst && bom ? chunk.subarray(3) : chunk, window);
    if (state.full && state.counted > window.countBytes) {
      ended = false;
      break;
    }
  }
  const lines = state.line - 1 + (state.open ? 1 : 0);
  const to = window.from - 1 + state.shown;
  const { text, eol } = decode(state.kept);
  return {
    text,
    to,
    total: ended ? lines : undefined,
    more: ended ? lines > to : true,
    cut: state.cut,
    bytes: state.bytes,
    bom,
    eol,
  };
}

interface TakeState {
  /** The line the next byte belongs to. */
  line: number;
  kept: Buffer[];
  bytes: number;
  /** Lines started in the window. */
  shown: number;
  cut: boolean;
  /** The window is full; only counting continues. */
  full: boolean;
  counted: number;
  /** The last line has bytes but no line end yet. */
  open: boolean;
  seen: number;
}

function take(state: TakeState, chunk: Buffer, window: Window): void {
  if (state.full) state.counted += chunk.length;
  for (let at = 0; at < chunk.length;) {
    const newline = chunk.indexOf(NEWLINE, at);
    const end = newline === -1 ? chunk.length : newline + 1;
    if (!state.full && state.line >= window.from) keep(state, chunk.subarray(at, end), window);
    state.open = newline === -1;
    if (newline !== -1) state.line += 1;
    at = end;
  }
}

/** `piece` is a line or a part of one. A line that does not fit is dropped completely, unless it is the first. */
function keep(state: TakeState, piece: Buffer, { maxLines, maxBytes }: Window): void {
  const begins = !state.open;
  if (begins && state.shown >= maxLines) {
    state.full = true;
    return;
  }
  if (state.bytes + piece.length <= maxBytes) {
    if (begins) state.shown += 1;
    state.bytes += piece.length;
    // A copy: chunks are reused by their source.
    state.kept.push(Buffer.from(piece));
    return;
  }
  state.full = true;
  if (state.shown > (begins ? 0 : 1)) return dropPartOfLine(state, begins);
  state.shown = 1;
  state.cut = true;
  const part = wholeCharacters(Buffer.concat([...state.kept, piece.subarray(0, maxBytes - state.bytes)]));
  state.bytes = part.length;
  state.kept = [part];
}

/** The line that does not fit started in an earlier chunk: the part that was kept is dropped. */
function dropPartOfLine(state: TakeState, begins: boolean): void {
  if (begins) return;
  state.shown -= 1;
  for (let last = state.kept.at(-1); last !== undefined && last.at(-1) !== NEWLINE; last = state.kept.at(-1)) {
    state.kept.pop();
    state.bytes -= last.length;
  }
}

/** Without an incomplete character at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) {
      const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return wanted > back ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

function decode(kept: readonly Buffer[]): { text: string; eol: EndOfLine } {
  const decoder = new StringDecoder("utf8");
  const text = (kept.map((piece) => decoder.write(piece)).join("") + decoder.end()).replaceAll("\0", "\ufffd");
  const lf = text.match(/\n/g)?.length ?? 0;
  const crlf = text.match(/\r\n/g)?.length ?? 0;
  if (lf === 0) return { text, eol: "none" };
  return { text, eol: crlf === 0 ? "lf" : crlf === lf ? "crlf" : "mixed" };
}

/** The mark at the start has three bytes, which must not be split over chunks. */
async function* withWholeStart(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (start === undefined) {
      yield chunk;
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < 3) continue;
    yield start;
    start = undefined;
  }
  if (start !== undefined && start.length > 0) yield start;
}
