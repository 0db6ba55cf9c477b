import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { spelledOut, visible, withoutUnseen } from "./visible.ts";

test("escapes invisible and direction-changing characters and keeps the rest", () => {
  assert.equal(visible("sub/\u202egnp.sh"), "sub/\\u{202e}gnp.sh");
  assert.equal(visible("a\nb\u001b[31m\u0000"), "a\\u{a}b\\u{1b}[31m\\u{0}");
  assert.equal(visible("a b/ü.txt 👩‍💻 نمی‌خواهم"), "a b/ü.txt 👩‍💻 نمی‌خواهم");
  assert.equal(visible("x".repeat(400)), `${"x".repeat(300)}… (400 characters)`);
  assert.equal(withoutUnseen("a\u202e\u200b\u3164b"), "ab");
});

test("never returns a control character, a direction change or half a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const shown = visible(name, 50);
      assert.ok(shown.isWellFormed());
      assert.doesNotMatch(shown, /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u2028\u2029]/u);
    }),
  );
});

test("shows text for a decision completely, and only a space looks like a space", () => {
  assert.equal(
    spelledOut("rm\u00a0-rf\u3164\u200d\ufe0f \u202e~\t\r\u001b[2J"),
    "rm\\u{a0}-rf\\u{3164}\\u{200d}\\u{fe0f} \\u{202e}~\\u{9}\\u{d}\\u{1b}[2J",
  );
  assert.equal(spelledOut("ls\n\n  \n\nrm -rf ~"), "ls\n\\u{a}  \\u{a}\nrm -rf ~");
  assert.equal(spelledOut("for f in ü; do\n  echo 日本\n\ndone"), "for f in ü; do\n  echo 日本\n\ndone");
  const long = "x".repeat(100_000);
  assert.equal(spelledOut(long), long);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const shown = spelledOut(text);
      assert.ok(shown.isWellFormed());
      assert.equal(spelledOut(shown), shown);
      assert.doesNotMatch(shown, /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u);
    }),
  );
});
