// Chunks cover every line, have exact line numbers, stay near their size and overlap with their neighbors.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { chunkText } from "./chunk.ts";

const small = { tokens: 10, overlap: 3 };

test("returns one chunk for a short text, without blank lines at its ends", () => {
  assert.deepEqual(chunkText("\n\n# Tea\n\nGreen.\n\n", { tokens: 400, overlap: 80 }), [
    { startLine: 3, endLine: 5, text: "# Tea\n\nGreen." },
  ]);
});

test("returns no chunk for empty and blank texts", () => {
  assert.deepEqual(
    ["", "\n", " \t\r\n \n"].map((text) => chunkText(text, small)),
    [[], [], []],
  );
});

test("shares the last lines of a chunk with the next one", () => {
  const text = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", "dddddddddd", "eeeeeeeeee"].join("\n");
  assert.deepEqual(chunkText(text, { tokens: 9, overlap: 3 }), [
    { startLine: 1, endLine: 3, text: "aaaaaaaaaa\nbbbbbbbbbb\ncccccccccc" },
    { startLine: 3, endLine: 5, text: "cccccccccc\ndddddddddd\neeeeeeeeee" },
  ]);
});

test("splits a long line at spaces and keeps its number", () => {
  const line = Array.from({ length: 40 }, (_each, at) => `word${at}`).join(" ");
  const chunks = chunkText(`first\n${line}\nlast`, small);
  assert.deepEqual([chunks.at(0)?.startLine, chunks.at(-1)?.endLine], [1, 3]);
  assert.ok(chunks.every(({ text }) => text.length <= 44));
  assert.ok(chunks.slice(1, -1).every(({ startLine, endLine }) => startLine === 2 && endLine === 2));
});

test("leaves Windows line ends out of the text", () => {
  assert.deepEqual(chunkText("a\r\nb\r\n", small), [{ startLine: 1, endLine: 2, text: "a\nb" }]);
});

test("makes smaller chunks for scripts in which a character is a word", () => {
  const chunks = chunkText("会".repeat(100), { tokens: 20, overlap: 0 });
  assert.ok(chunks.every(({ text }) => text.length <= 20));
  assert.equal(chunks.map(({ text }) => text).join(""), "会".repeat(100));
});

test("covers every line of any text with exact line numbers and whole characters", () => {
  const line = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom("", "  ", "😀".repeat(60), "x".repeat(200), "会议 notes"),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), fc.integer({ min: 8, max: 60 }), (raw, tokens) => {
      const lines = raw.map((each) => each.replaceAll(/[\r\n]/g, "").toWellFormed());
      const chunks = chunkText(lines.join("\n"), { tokens, overlap: Math.floor(tokens / 5) });
      const covered = new Set<number>();
      for (const { startLine, endLine, text } of chunks) {
        assert.ok(text.isWellFormed() && /\S/.test(text));
        const shown = text.split("\n");
        assert.equal(shown.length, endLine - startLine + 1);
        shown.forEach((part, at) => assert.ok(lines[startLine - 1 + at]?.includes(part)));
        for (let at = startLine; at <= endLine; at += 1) covered.add(at);
      }
      lines.forEach((each, at) => assert.ok(!/\S/.test(each) || covered.has(at + 1), `line ${at + 1}`));
    }),
  );
});
