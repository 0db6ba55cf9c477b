// Replaces one passage in the bytes of a file and leaves all other bytes unchanged.
import { ToolError } from "../../core/error.ts";
import { describeNearest } from "./near-line.ts";

export interface Replaced {
  readonly bytes: Buffer;
  /** The bytes from `start` to `oldEnd` became those from `start` to `newEnd`. */
  readonly start: number;
  readonly oldEnd: number;
  readonly newEnd: number;
  /** From 1. */
  readonly firstChangedLine: number;
}

const LF = 0x0a;
const MAX_NAMED_MATCHES = 10;

/**
 * CRLF and LF match each other, and the new text gets the line ends of its place. `oldText` must occur once, counting
 * overlaps. Throws `edit.empty-text`, `edit.same-text`, `edit.no-match`, `edit.many-matches`.
 */
export function replaceOnce(before: Buffer, oldText: string, newText: string): Replaced {
  const [wanted, instead] = [plainEnds(oldText), plainEnds(newText)];
  if (wanted === "")
    throw new ToolError("edit.empty-text", "edit: oldText is empty", {
      hint: "quote the text to replace, or use write for a new file",
    });
  if (wanted === instead)
    throw new ToolError("edit.same-text", "edit: oldText and newText are the same, so nothing would change", {
      hint: "send the changed text as newText",
    });
  const pairs = crlfPositions(before);
  const plain = pairs.length === 0 ? before : withoutPairs(before, pairs);
  const at = onlyMatch(plain, Buffer.from(wanted), wanted);
  const start = toOriginal(at, pairs);
  const end = toOriginal(at + Buffer.byteLength(wanted), pairs);
  const ends = endsFor(before.subarray(start, end), before, pairs.length);
  const inserted = Buffer.from(ends === "\n" ? instead : instead.replaceAll("\n", ends));
  return {
    bytes: Buffer.concat([before.subarray(0, start), inserted, before.subarray(end)]),
    start,
    oldEnd: end,
    newEnd: start + inserted.length,
    firstChangedLine: lineAt(before, start) + sharedLines(before.subarray(start, end), inserted),
  };
}

/** LF only, and without the byte-order mark that some models send: an edit does not change the mark of the file. */
function plainEnds(text: string): string {
  return text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
}

/** The position of each CR that belongs to a CRLF. */
function crlfPositions(bytes: Buffer): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf("\r\n"); at !== -1; at = bytes.indexOf("\r\n", at + 2)) found.push(at);
  return found;
}

function withoutPairs(bytes: Buffer, pairs: readonly number[]): Buffer {
  const plain = Buffer.allocUnsafe(bytes.length - pairs.length);
  let from = 0;
  let to = 0;
  for (const cr of pairs) {
    to += bytes.copy(plain, to, from, cr);
    from = cr + 1;
  }
  bytes.copy(plain, to, from);
  return plain;
}

/** Maps a position in the text without CRs to the file: one more for every CRLF that ends before it. */
function toOriginal(at: number, pairs: readonly number[]): number {
  let [low, high] = [0, pairs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    // The LF of pair number `middle` is at pairs[middle] - middle in the text without CRs.
    if ((pairs[middle] ?? 0) - middle < at) low = middle + 1;
    else high = middle;
  }
  return at + low;
}

function onlyMatch(bytes: Buffer, needle: Buffer, wanted: string): number {
  const first = bytes.indexOf(needle);
  if (first === -1) {
    throw new ToolError("edit.no-match", `edit: oldText is not in the file. ${describeNearest(bytes, wanted)}`, {
      hint: "read the file and copy the text exactly, including whitespace",
    });
  }
  const more = otherMatches(bytes, needle, first);
  if (more.length === 0) return first;
  const lines = [first, ...more].slice(0, MAX_NAMED_MATCHES).map((at) => lineAt(bytes, at));
  const count = more.length + 1 > MAX_COUNTED ? `more than ${MAX_COUNTED}` : `${more.length + 1}`;
  throw new ToolError(
    "edit.many-matches",
    `edit: oldText occurs ${count} times (at lines ${lines.join(", ")}${more.length >= MAX_NAMED_MATCHES ? ", …" : ""})`,
    {
      hint: "add neighboring lines to oldText until it occurs only once",
      details: { count: more.length + 1, lines },
    },
  );
}

const MAX_COUNTED = 10_000;

/** Includes overlapping matches: replacing either would be a guess. */
function otherMatches(bytes: Buffer, needle: Buffer, first: number): number[] {
  const found: number[] = [];
  for (
    let at = bytes.indexOf(needle, first + 1);
    at !== -1 && found.length < MAX_COUNTED;
    at = bytes.indexOf(needle, at + 1)
  )
    found.push(at);
  return found;
}

/** The line end of the replaced part if it has only one kind, else the more frequent one of the file. */
function endsFor(part: Buffer, whole: Buffer, pairsInWhole: number): "\n" | "\r\n" {
  const [lf, crlf] = [countOf(part, LF), crlfPositions(part).length];
  if (lf > 0 && crlf === 0) return "\n";
  if (lf > 0 && crlf === lf) return "\r\n";
  return pairsInWhole * 2 > countOf(whole, LF) ? "\r\n" : "\n";
}

function countOf(bytes: Buffer, byte: number): number {
  let count = 0;
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count += 1;
  return count;
}

export function lineAt(bytes: Buffer, at: number): number {
  return countOf(bytes.subarray(0, at), LF) + 1;
}

/** Number of equal lines at the start of old and new text: context that was quoted to make the match unique. */
function sharedLines(old: Buffer, fresh: Buffer): number {
  let at = 0;
  while (at < old.length && at < fresh.length && old[at] === fresh[at]) at += 1;
  return countOf(old.subarray(0, at), LF);
}
