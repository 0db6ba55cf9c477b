// Parses the text of a patch into operations, or throws an error that names the line.
import { ToolError } from "../../../core/error.ts";
import { visible } from "../../../core/visible.ts";
import { formatHint, problem, readLines, splitIt, type Reader } from "./lines.ts";
import { isHeader, parseHunks, type Hunk } from "./parse-hunk.ts";

export type PatchOp =
  | { readonly kind: "add"; readonly line: number; readonly path: string; readonly lines: readonly string[] }
  | { readonly kind: "delete"; readonly line: number; readonly path: string }
  | {
      readonly kind: "update";
      readonly line: number;
      readonly path: string;
      readonly moveTo?: string;
      readonly hunks: readonly Hunk[];
    };

const MAX_PATCH_BYTES = 10_000_000;
export const MAX_OPS = 500;

/** Throws ToolError `patch.*` with the line in the message and as `details.line`. Does not read the disk. */
export function parsePatch(input: string): PatchOp[] {
  if (input.length > MAX_PATCH_BYTES || Buffer.byteLength(input) > MAX_PATCH_BYTES)
    throw new ToolError("patch.too-large", `apply_patch: the patch is larger than ${MAX_PATCH_BYTES} bytes`, {
      hint: "send several smaller patches",
    });
  const reader = readLines(input);
  const ops: PatchOp[] = [];
  for (;;) {
    reader.skipBlank();
    if (reader.atEnd()) break;
    ops.push(parseOp(reader));
    if (ops.length > MAX_OPS)
      throw problem("patch.too-many-files", reader.line(), `the patch names more than ${MAX_OPS} files`, splitIt);
  }
  if (ops.length > 0) return ops;
  throw problem("patch.empty", reader.line(), "the patch changes nothing", formatHint);
}

const MOVE = "*** Move to:";
const headers = { "*** Add File:": "add", "*** Delete File:": "delete", "*** Update File:": "update" } as const;

function parseOp(reader: Reader): PatchOp {
  const { number: line, text: written } = reader.next();
  // Models indent whole patches, so blanks before a header are ignored.
  const text = written.trimStart();
  for (const [header, kind] of Object.entries(headers)) {
    if (!text.startsWith(header)) continue;
    const path = pathAfter(header, text, line);
    if (kind === "delete") return { kind, line, path };
    if (kind === "add") return { kind, line, path, lines: addedLines(reader) };
    return parseUpdate(reader, line, path);
  }
  throw misplaced(line, text);
}

function misplaced(line: number, text: string): ToolError {
  const quoted = `"${visible(text, 80)}"`;
  if (text.startsWith(MOVE))
    return problem("patch.misplaced", line, `${quoted} must directly follow an *** Update File: line`, formatHint);
  if (text.startsWith("*** End of File"))
    return problem("patch.misplaced", line, `${quoted} is only valid at the end of a hunk`, formatHint);
  if (text.startsWith("***"))
    return problem("patch.unknown-header", line, `${quoted} is not a known header`, formatHint);
  return problem("patch.misplaced", line, `${quoted} is outside of every file section`, formatHint);
}

function pathAfter(header: string, text: string, line: number): string {
  const path = text.slice(header.length).trim();
  if (path === "") throw problem("patch.no-path", line, `"${header}" has no path`, "write the path after the colon");
  return path;
}

function addedLines(reader: Reader): string[] {
  const lines: string[] = [];
  for (let next = reader.peek(); next !== undefined && !isHeader(next.text.trimStart()); next = reader.peek()) {
    if (next.text === "" && onlyBlankAhead(reader)) break;
    if (!next.text.startsWith("+"))
      throw problem(
        "patch.bad-line",
        next.number,
        `"${visible(next.text, 80)}" must start with +`,
        "every line of an added file starts with +, also an empty one",
      );
    lines.push(reader.next().text.slice(1));
  }
  return lines;
}

/** Empty lines before the next header are a gap between parts; the reader skips them. */
function onlyBlankAhead(reader: Reader): boolean {
  reader.skipBlank();
  const next = reader.peek();
  return next === undefined || isHeader(next.text.trimStart());
}

function parseUpdate(reader: Reader, line: number, path: string): PatchOp {
  const next = reader.peek();
  const isMove = next?.text.trimStart().startsWith(MOVE) === true;
  const moveTo = isMove ? pathAfter(MOVE, reader.next().text.trimStart(), next.number) : undefined;
  const hunks = parseHunks(reader);
  if (moveTo !== undefined) return { kind: "update", line, path, moveTo, hunks };
  if (hunks.length > 0) return { kind: "update", line, path, hunks };
  throw problem(
    "patch.no-change",
    line,
    `the update of ${visible(path)} has no hunks and no *** Move to: line`,
    "add lines that start with -, + or a blank",
  );
}
