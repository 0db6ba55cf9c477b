// Applies hunks to the bytes of one file; bytes that no hunk names stay unchanged.
import type { ToolError } from "../../../core/error.ts";
import { visible } from "../../../core/visible.ts";
import { problem, splitIt } from "./lines.ts";
import type { Hunk, HunkLine } from "./parse-hunk.ts";
import { encoded, findLines, splitLines, type Effort, type FileLines } from "./seek.ts";

/** Throws `patch.no-match` and `patch.no-context` with the lines that were searched. `path` is for messages. */
export function applyHunks(before: Buffer, hunks: readonly Hunk[], path: string, effort: Effort): Buffer {
  const file = splitLines(before);
  const out: string[] = [];
  const copy = (from: number, to: number): void => {
    for (let at = from; at < to; at += 1) out.push(lineOf(file, at));
  };
  let cursor = 0;
  for (const hunk of hunks) {
    const found = locate(file, hunk, cursor, path, effort);
    copy(cursor, found.at);
    cursor = found.at;
    for (const { kind, text } of found.lines) {
      if (kind === "add") out.push(encoded(text) + file.eol);
      else cursor += 1;
      if (kind === "keep") out.push(lineOf(file, cursor - 1));
    }
  }
  copy(cursor, file.raw.length);
  return Buffer.from(file.bom + out.join(""), "latin1");
}

/** Every line of the result has a line end, also the last one. */
function lineOf({ raw, ends, eol }: FileLines, at: number): string {
  return (raw[at] ?? "") + (ends[at] === "" ? eol : (ends[at] ?? ""));
}

interface Found {
  readonly at: number;
  readonly lines: readonly HunkLine[];
}

function locate(file: FileLines, hunk: Hunk, cursor: number, path: string, effort: Effort): Found {
  let from = cursor;
  for (const anchor of hunk.anchors) {
    const at = findLines(file, [anchor], { from, atEnd: false, effort });
    if (at === undefined) throw notFound("patch.no-context", file, hunk, [anchor], { path, from, effort });
    from = at + 1;
  }
  for (const lines of readingsOf(hunk)) {
    const wanted = lines.flatMap(({ kind, text }) => (kind === "add" ? [] : [text]));
    if (wanted.length === 0) return { at: placeToInsert(file, hunk, from), lines };
    const at = findLines(file, wanted, { from, atEnd: hunk.atEnd, near: hunk.near, effort });
    if (at !== undefined) return { at, lines };
  }
  const wanted = hunk.lines.flatMap(({ kind, text }) => (kind === "add" ? [] : [text]));
  throw notFound("patch.no-match", file, hunk, wanted, { path, from, effort });
}

/** A hunk that only adds has no lines to find: it goes after its anchors, to the line in its head, or to the end. */
function placeToInsert(file: FileLines, { anchors, near, atEnd }: Hunk, from: number): number {
  if (atEnd) return file.raw.length;
  if (near !== undefined) return Math.min(Math.max(from, near), file.raw.length);
  return anchors.length > 0 ? from : file.raw.length;
}

/** Empty lines at the end are context, or a gap before the next part: the stricter reading is tried first. */
function readingsOf({ lines }: Hunk): (readonly HunkLine[])[] {
  const last = lines.findLastIndex(({ bare }) => bare !== true);
  if (last === lines.length - 1 || last === -1) return [lines];
  const withoutGap = lines.slice(0, last + 1);
  // A hunk that only adds has no context, so a gap must not become its position.
  return withoutGap.every(({ kind }) => kind === "add") ? [withoutGap] : [lines, withoutGap];
}

const SHOWN_LINES = 12;

function notFound(
  code: "patch.no-match" | "patch.no-context",
  file: FileLines,
  { line }: Hunk,
  wanted: readonly string[],
  { path, from, effort }: { readonly path: string; readonly from: number; readonly effort: Effort },
): ToolError {
  if (effort.left < 0)
    return problem("patch.too-much-work", line, `finding the hunks in ${visible(path)} takes too long`, splitIt);
  const quoted = wanted.slice(0, SHOWN_LINES).map((text) => `\n  | ${visible(text, 200)}`);
  const more = wanted.length > SHOWN_LINES ? `\n  … and ${wanted.length - SHOWN_LINES} more` : "";
  const where = from === 0 ? "are not in the file" : `are not in the file after line ${from}`;
  const extent = file.raw.length === 0 ? ", which is empty" : "";
  return problem(
    code,
    line,
    `${visible(path)}: these lines ${where}${extent}; nothing was changed:${quoted.join("")}${more}`,
    "read the file and copy its lines exactly; order the hunks from top to bottom",
  );
}
