// Renders the unified diff of two texts by lines, bounded in work and in size.
import { structuredPatch } from "diff";

export interface DiffOptions {
  /** Shown in the header. */
  readonly name: string;
  readonly context?: number;
  readonly maxChars?: number;
  /** The number of the first line, when both texts are excerpts of a longer text. */
  readonly firstLine?: number;
}

/** Beyond this many changed lines, or this much time, the diff shows one block removed and one added. */
const MAX_CHANGED_LINES = 2000;
const MAX_WORK_MS = 500;

/** Empty when the texts are equal. Cut after `maxChars`, with a last line that states how much is missing. */
export function unifiedDiff(before: string, after: string, options: DiffOptions): string {
  const { name, context = 3, maxChars = 20_000, firstLine = 1 } = options;
  if (before === after) return "";
  const [old, fresh] = withVisibleLineEnds(before, after);
  const patch = structuredPatch(name, name, old, fresh, undefined, undefined, {
    context,
    maxEditLength: MAX_CHANGED_LINES,
    timeout: MAX_WORK_MS,
  });
  const hunks = patch?.hunks ?? [replaceAll(old, fresh)];
  const body = hunks.map((hunk) => printHunk(hunk, firstLine - 1));
  return cut([`--- a/${name}`, `+++ b/${name}`, ...body].join("\n"), maxChars);
}

interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** Carriage returns are hidden, except where they are the only difference. */
function withVisibleLineEnds(before: string, after: string): [old: string, fresh: string] {
  const [old, fresh] = [before.replaceAll("\r\n", "\n"), after.replaceAll("\r\n", "\n")];
  return old === fresh ? [before.replaceAll("\r\n", "␍\n"), after.replaceAll("\r\n", "␍\n")] : [old, fresh];
}

function printHunk({ oldStart, oldLines, newStart, newLines, lines }: Hunk, offset: number): string {
  // By convention an empty side starts at the line before it.
  const span = (start: number, length: number): string => `${start + offset - (length === 0 ? 1 : 0)},${length}`;
  return [`@@ -${span(oldStart, oldLines)} +${span(newStart, newLines)} @@`, ...lines].join("\n");
}

/** One hunk for texts that differ too much to compare, without their common start and end. */
function replaceAll(before: string, after: string): Hunk {
  const [old, fresh] = [toLines(before), toLines(after)];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  return {
    oldStart: head + 1,
    oldLines: removed.length,
    newStart: head + 1,
    newLines: added.length,
    lines: [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)],
  };
}

/** A last line without a line end carries the usual remark, so that it differs from one with a line end. */
function toLines(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  return last === "" ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}

function cut(diff: string, maxChars: number): string {
  if (diff.length <= maxChars) return diff;
  const kept = diff.slice(0, diff.lastIndexOf("\n", maxChars));
  return `${kept.toWellFormed()}\n… (${diff.length - kept.length} more characters)`;
}
