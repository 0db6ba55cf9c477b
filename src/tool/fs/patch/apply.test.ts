// Hunks made from the difference of two texts turn one into the other; a hopeless search ends.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { applyHunks } from "./apply.ts";
import type { Hunk, HunkLine } from "./parse-hunk.ts";
import { newEffort } from "./seek.ts";

const hunkOf = (lines: readonly HunkLine[], over: Partial<Hunk> = {}): Hunk => ({
  line: 1,
  anchors: [],
  atEnd: false,
  lines,
  ...over,
});

test("returns exactly the kept and added lines for a hunk that covers the whole file", () => {
  const line = fc.constantFrom("a", "b", "  c", "", "ü", "“q”", "\u00a0x ");
  const written = fc.record({ kind: fc.constantFrom("keep", "drop", "add"), text: line } as const);
  fc.assert(
    fc.property(
      fc.array(written, { minLength: 1, maxLength: 8 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      fc.boolean(),
      (lines, eol, bom, ended) => {
        const old = lines.filter(({ kind }) => kind !== "add").map(({ text }) => text);
        if (old.at(-1) === "" && !ended) return;
        const mark = bom ? "\ufeff" : "";
        const before = mark + old.join(eol) + (ended && old.length > 0 ? eol : "");
        const usesEol = old.length > 1 || (ended && old.length > 0);
        const end = usesEol ? eol : "\n";
        const after = lines.filter(({ kind }) => kind !== "drop").map(({ text }) => text + end);
        const result = applyHunks(Buffer.from(before), [hunkOf(lines)], "x", newEffort());
        assert.equal(result.toString(), mark + after.join(""));
      },
    ),
    { numRuns: 500 },
  );
});

test("keeps every byte that no hunk names", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (head, tail) => {
      const before = Buffer.concat([head, Buffer.from("\nTHE LINE\n"), tail, Buffer.from("\n")]);
      const hunk = hunkOf([
        { kind: "drop", text: "THE LINE" },
        { kind: "add", text: "ANOTHER" },
      ]);
      const ends = before.toString("latin1").split("\n").slice(0, -1);
      const eol = ends.filter((text) => text.endsWith("\r")).length * 2 > ends.length ? "\r\n" : "\n";
      const after = Buffer.concat([head, Buffer.from(`\nANOTHER${eol}`), tail, Buffer.from("\n")]);
      assert.deepEqual(applyHunks(before, [hunk], "x", newEffort()), after);
    }),
    { numRuns: 500 },
  );
});

test("ends a search that would take too long", () => {
  const before = Buffer.from("x\n".repeat(200_000));
  const lines: HunkLine[] = [
    ...Array.from({ length: 2_000 }, (): HunkLine => ({ kind: "keep", text: "x" })),
    { kind: "drop", text: "y" },
  ];
  assert.throws(() => applyHunks(before, [hunkOf(lines)], "x", newEffort()), { code: "patch.too-much-work" });
});
