// Parses the hunks of an update: where each starts and what it keeps, drops and adds.
import { visible } from "../../../core/visible.ts";
import { problem, type Numbered, type Reader } from "./lines.ts";

export interface Hunk {
  /** Line of the patch where it starts, from 1. */
  readonly line: number;
  /** Texts of the `@@` lines, each searched after the one before. */
  readonly anchors: readonly string[];
  /** Lines of the file before it, from a head such as `@@ -17,3 +17,3 @@`: of several matches the nearest is used. */
  readonly near?: number;
  readonly lines: readonly HunkLine[];
  readonly atEnd: boolean;
}

export interface HunkLine {
  readonly kind: "keep" | "drop" | "add";
  readonly text: string;
  /** Written as an empty line without the leading blank: context, or a gap between parts. */
  readonly bare?: true;
}

const END_OF_FILE = "*** End of File";

/** Up to the next header. */
export function parseHunks(reader: Reader): Hunk[] {
  const hunks: Hunk[] = [];
  for (let next = reader.peek(); next !== undefined && !isHeader(next.text); next = reader.peek()) {
    if (hunks.length > 0 && !isAnchor(next.text)) {
      requireBlank(reader.next());
      continue;
    }
    const hunk = parseHunk(reader);
    if (hunk === undefined) continue;
    hunks.push(hunk);
    reader.countHunk();
  }
  return hunks;
}

/** Only the first hunk may omit its @@ line. */
function requireBlank({ number, text }: Numbered): void {
  if (text.trim() === "") return;
  throw problem("patch.bad-line", number, "a hunk after *** End of File must start with @@", "put @@ before it");
}

export const isHeader = (text: string): boolean => text.startsWith("***");
const isAnchor = (text: string): boolean => text === "@@" || text.startsWith("@@ ");

/** Undefined for empty lines outside of hunks. */
function parseHunk(reader: Reader): Hunk | undefined {
  const line = reader.line();
  const anchors: string[] = [];
  for (let next = reader.peek(); next !== undefined && isAnchor(next.text); next = reader.peek())
    anchors.push(reader.next().text.slice(3));
  const near = anchors.map(linesBefore).findLast((count) => count !== undefined);
  const lines: HunkLine[] = [];
  for (
    let next = reader.peek();
    next !== undefined && !isHeader(next.text) && !isAnchor(next.text);
    next = reader.peek()
  )
    lines.push(hunkLine(reader.next()));
  const atEnd = reader.peek()?.text.trimEnd() === END_OF_FILE;
  if (atEnd) reader.next();
  if (lines.some(({ bare }) => bare !== true) || (atEnd && lines.length > 0))
    return {
      line,
      anchors: anchors.filter((text) => text.trim() !== "" && linesBefore(text) === undefined),
      ...(near === undefined ? {} : { near }),
      lines,
      atEnd,
    };
  if (anchors.length === 0 && !atEnd) return undefined;
  throw problem(
    "patch.empty-hunk",
    line,
    "the hunk has no lines",
    "lines of a hunk start with a blank (kept), - (removed) or + (added)",
  );
}

/** The head of a unified diff. Text after the second @@ names a function and is not a line to find. */
const unifiedHead = /^-(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,\d{1,9})? @@/;

function linesBefore(anchor: string): number | undefined {
  const [, first, count = "1"] = unifiedHead.exec(anchor) ?? [];
  if (first === undefined) return undefined;
  // A head with zero lines names the line before it.
  return Number(count) === 0 ? Number(first) : Math.max(0, Number(first) - 1);
}

const kinds = new Map<string, HunkLine["kind"]>([
  [" ", "keep"],
  ["-", "drop"],
  ["+", "add"],
]);

function hunkLine({ number, text }: Numbered): HunkLine {
  if (text === "") return { kind: "keep", text: "", bare: true };
  const kind = kinds.get(text[0] ?? "");
  if (kind !== undefined) return { kind, text: text.slice(1) };
  throw problem(
    "patch.bad-line",
    number,
    `"${visible(text, 80)}" must start with a blank, -, + or @@`,
    "lines of a hunk start with a blank (kept), - (removed) or + (added)",
  );
}
