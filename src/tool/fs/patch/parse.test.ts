// Every well-formed patch is parsed as written; everything else is a ToolError with a hint.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { ToolError } from "../../../core/error.ts";
import { parsePatch, MAX_OPS, type PatchOp } from "./parse.ts";
import type { Hunk } from "./parse-hunk.ts";

const numRuns = Number(process.env["OPENCLAW_FUZZ_RUNS"] ?? 500);

const lineText = fc
  .oneof(
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.constantFrom("", "*** End Patch", "@@", "+", "-x", " ", "\\ No newline"),
  )
  .map((text) => text.replaceAll(/[\r\n]/g, ""));
const path = fc
  .array(fc.stringMatching(/^[a-zé_.-]{1,8}$/), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const hunkLine = fc.record({ kind: fc.constantFrom("keep", "drop", "add"), text: lineText } as const);
const hunk = fc.record({
  anchors: fc.array(
    lineText.filter((text) => text.trim() !== ""),
    { maxLength: 2 },
  ),
  lines: fc.array(hunkLine, { minLength: 1, maxLength: 4 }),
  atEnd: fc.boolean(),
});
const op = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), path, lines: fc.array(lineText, { maxLength: 4 }) }),
  fc.record({ kind: fc.constant("delete" as const), path }),
  fc.record({ kind: fc.constant("update" as const), path, hunks: fc.array(hunk, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant("update" as const), path, moveTo: path, hunks: fc.array(hunk, { maxLength: 3 }) }),
);
type Written = typeof op extends fc.Arbitrary<infer T> ? T : never;

const marks = { keep: " ", drop: "-", add: "+" } as const;

function write(ops: readonly Written[]): string[] {
  return ["*** Begin Patch", ...ops.flatMap(writeOp), "*** End Patch"];
}

function writeOp(written: Written): string[] {
  if (written.kind === "delete") return [`*** Delete File: ${written.path}`];
  if (written.kind === "add") return [`*** Add File: ${written.path}`, ...written.lines.map((text) => `+${text}`)];
  const move = "moveTo" in written ? [`*** Move to: ${written.moveTo}`] : [];
  return [`*** Update File: ${written.path}`, ...move, ...written.hunks.flatMap(writeHunk)];
}

function writeHunk({ anchors, lines, atEnd }: Pick<Hunk, "anchors" | "lines" | "atEnd">): string[] {
  const heads = anchors.length === 0 ? ["@@"] : anchors.map((text) => `@@ ${text}`);
  return [...heads, ...lines.map(({ kind, text }) => `${marks[kind]}${text}`), ...(atEnd ? ["*** End of File"] : [])];
}

/** Without line numbers, which the generator does not know. */
function bare(parsed: PatchOp): unknown {
  const { line: _line, ...rest } = parsed;
  if (rest.kind !== "update") return rest;
  return { ...rest, hunks: rest.hunks.map(({ anchors, lines, atEnd }) => ({ anchors, lines, atEnd })) };
}

test("parses a patch as written, with any line ends and wrapper", () => {
  const wrappers: ((lines: readonly string[]) => string)[] = [
    (lines) => lines.join("\n"),
    (lines) => `${lines.join("\r\n")}\r\n`,
    (lines) => `\n\n${lines.join("\n")}\n  \n`,
    (lines) => `<<'EOF'\n${lines.join("\n")}\nEOF\n`,
  ];
  fc.assert(
    fc.property(fc.array(op, { minLength: 1, maxLength: 4 }), fc.constantFrom(...wrappers), (ops, wrap) => {
      assert.deepEqual(parsePatch(wrap(write(ops))).map(bare), structuredClone(ops));
    }),
    { numRuns },
  );
});

test("reports the line on which each part was written", () => {
  fc.assert(
    fc.property(fc.array(op, { minLength: 1, maxLength: 4 }), (ops) => {
      const lines = write(ops);
      for (const parsed of parsePatch(lines.join("\n"))) {
        assert.ok(lines[parsed.line - 1]?.endsWith(`File: ${parsed.path}`));
        if (parsed.kind === "update") for (const { line } of parsed.hunks) assert.match(lines[line - 1] ?? "", /^@@/);
      }
    }),
    { numRuns },
  );
});

test("rejects garbage with a ToolError that has a line and a hint", () => {
  const piece = fc.oneof(
    fc.constantFrom("*** Begin Patch", "*** End Patch", "*** Add File: x", "*** Update File: y", "*** Delete File: z"),
    fc.constantFrom(
      "*** Move to: w",
      "*** End of File",
      "@@",
      "@@ ctx",
      "+a",
      "-b",
      " c",
      "",
      "***",
      "*** ",
      "<<EOF",
      "EOF",
    ),
    fc.string({ unit: "binary", maxLength: 8 }),
  );
  const garbage = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("\n")),
    fc.array(piece, { maxLength: 12 }).map((pieces) => ["*** Begin Patch", ...pieces, "*** End Patch"].join("\n")),
    fc.string({ unit: "binary" }),
  );
  const seen = new Set<string>();
  fc.assert(
    fc.property(garbage, (input) => {
      try {
        assert.ok(parsePatch(input).length > 0);
        seen.add("ok");
      } catch (error) {
        assert.ok(error instanceof ToolError, String(error));
        assert.match(error.code, /^patch\.[a-z-]+$/);
        assert.ok((error.hint ?? "") !== "");
        const { line } = error.details as { line: number };
        assert.ok(line >= 1 && line <= input.split("\n").length, error.message);
        seen.add(error.code);
      }
    }),
    { numRuns: numRuns * 4 },
  );
  assert.ok(seen.size > 5, [...seen].join(" "));
});

test("rejects patches over the limits before it does anything else", () => {
  const files = Array.from({ length: 100_000 }, (_, at) => `*** Add File: f${at}\n+x`).join("\n");
  const wrap = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch`;
  assert.throws(() => parsePatch(wrap(files)), { code: "patch.too-many-files" });
  assert.throws(() => parsePatch(wrap(`*** Update File: a\n${"@@\n+x\n".repeat(5_001)}`)), {
    code: "patch.too-many-hunks",
  });
  assert.throws(() => parsePatch(wrap(`*** Add File: a\n+${"x".repeat(10_000_000)}`)), { code: "patch.too-large" });
  assert.equal(parsePatch(wrap(files.split("\n*** ", MAX_OPS).join("\n*** "))).length, MAX_OPS);
});
