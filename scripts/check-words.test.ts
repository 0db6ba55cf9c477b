// The banned words: found in any case, with a better word, except in folders that are still to be rewritten.
import assert from "node:assert/strict";
import { test } from "node:test";

import { findBannedWords } from "./check-words.ts";

test("finds a banned word with its line and a better word", () => {
  const found = findBannedWords("docs/guide/first-hour.md", "// fine\n// Mended anew.\n");
  assert.deepEqual(
    found.map(({ line, word, use }) => [line, word, use]),
    [
      [2, "Mended", "fix, repair"],
      [2, "anew", "again"],
    ],
  );
});

test("accepts words that only contain a banned one", () => {
  assert.deepEqual(findBannedWords("docs/guide/first-hour.md", "amendment, recommended, wishbone"), []);
});

test("skips a word only in the folders where it is pending", () => {
  const words = [{ pattern: /\bfoo\b/, use: "bar", pending: ["src/old"] }];
  assert.equal(findBannedWords("src/old/a.ts", "foo", words).length, 0);
  assert.equal(findBannedWords("src/older/a.ts", "foo", words).length, 1);
});
