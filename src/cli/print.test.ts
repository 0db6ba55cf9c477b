// Text for people: wrapped, aligned, without control characters.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { plain } from "./paint.ts";
import { formatDuration } from "../base/duration.ts";
import { columns, oneLine, safe, table, wrap } from "./print.ts";

test("wraps at blanks and keeps line breaks", () => {
  assert.deepEqual(wrap("one two three four five six", 20), ["one two three four", "five six"]);
  assert.deepEqual(wrap("a\n\nb", 20, "  "), ["  a", "", "  b"]);
  assert.deepEqual(wrap("a-word-that-is-far-longer-than-the-line x", 20), [
    "a-word-that-is-far-longer-than-the-line",
    "x",
  ]);
});

test("loses no word when it wraps", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,12}$/)), fc.integer({ min: 20, max: 80 }), (words, width) => {
      const lines = wrap(words.join(" "), width);
      assert.equal(lines.join(" ").trim(), words.join(" "));
      assert.ok(lines.every((line) => line.length <= width));
    }),
  );
});

test("aligns columns, and puts a name that is too long on its own line", () => {
  assert.deepEqual(
    columns(
      [
        ["a", "first"],
        ["bbb", "second"],
      ],
      { width: 60, indent: "  " },
    ),
    ["  a    first", "  bbb  second"],
  );
  const long = "x".repeat(40);
  assert.deepEqual(columns([[long, "text"]], { width: 80 }), [long, `${" ".repeat(36)}text`]);
});

test("makes a column as wide as its widest cell, and each row one line", () => {
  const rows = [
    { a: "1", b: "two\nlines" },
    { a: "333", b: "" },
  ];
  const shape = [
    { title: "A", text: (row: (typeof rows)[0]) => row.a },
    { title: "B", text: (row: (typeof rows)[0]) => row.b },
  ];
  assert.deepEqual(table(rows, shape, { paint: plain }), ["A    B", "1    two lines", "333"]);
});

test("escapes characters that a terminal would interpret", () => {
  assert.equal(safe("a\u001b[31mb\u202ec\n\td\u009b"), "a\\u{1b}[31mb\\u{202e}c\n\td\\u{9b}");
  assert.equal(oneLine("a\n\n\tb\r"), "a b\\u{d}");
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      (text) => !/(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u.test(safe(text)),
    ),
  );
});

test("spans", () => {
  assert.deepEqual([0, 59_000, 60_000, 3_600_000, 172_800_000, -5].map(formatDuration), [
    "0 s",
    "59 s",
    "1 min",
    "1 h",
    "2 d",
    "0 s",
  ]);
});
