// Snippets: the matching lines with their line numbers, within the limit.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { MAX_SNIPPET_CHARS, snippetOf } from "./snippet.ts";
import { termsOf } from "./terms.ts";

test("shows a short chunk in full", () => {
  assert.deepEqual(snippetOf("a\nb", 7, termsOf("b")), { startLine: 7, endLine: 8, text: "a\nb" });
});

test("shows the matching lines of a long chunk with their line numbers", () => {
  const lines = Array.from({ length: 60 }, (_each, at) => `line number ${at} of the long note`);
  lines[40] = "the meeting about the bridge was in Lisbon";
  const { startLine, endLine, text } = snippetOf(lines.join("\n"), 101, termsOf("meetings Lisbon"));
  assert.ok(startLine <= 141 && endLine >= 141 && text.includes("Lisbon"));
  assert.equal(text, lines.slice(startLine - 101, endLine - 100).join("\n"));
});

test("shows the part of a long line that contains the word", () => {
  const { startLine, endLine, text } = snippetOf(
    `${"x ".repeat(2000)}needle ${"y ".repeat(2000)}`,
    3,
    termsOf("needle"),
  );
  assert.deepEqual([startLine, endLine, text.includes("needle"), text.length <= MAX_SNIPPET_CHARS], [3, 3, true, true]);
});

test("never exceeds the limit, and marks every cut", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 900 }), { minLength: 1, maxLength: 30 }), fc.string(), (raw, query) => {
      const lines = raw.map((line) => line.replaceAll("\n", " "));
      const { text, startLine, endLine } = snippetOf(lines.join("\n"), 1, termsOf(query));
      assert.ok(text.length <= MAX_SNIPPET_CHARS);
      assert.ok(startLine >= 1 && endLine <= lines.length && text.split("\n").length === endLine - startLine + 1);
    }),
  );
});
