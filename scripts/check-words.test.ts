// The banned words: found in any case, with a better word.
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
