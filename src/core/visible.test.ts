import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { visible, withoutUnseen } from "./visible.ts";

test("what turns text around or hides is spelled out, the rest stays", () => {
  assert.equal(visible("sub/\u202egnp.sh"), "sub/\\u{202e}gnp.sh");
  assert.equal(visible("a\nb\u001b[31m\u0000"), "a\\u{a}b\\u{1b}[31m\\u{0}");
  assert.equal(visible("a b/ü.txt 👩‍💻 نمی‌خواهم"), "a b/ü.txt 👩‍💻 نمی‌خواهم");
  assert.equal(visible("x".repeat(400)), `${"x".repeat(300)}… (400 characters)`);
  assert.equal(withoutUnseen("a\u202e\u200b\u3164b"), "ab");
});

test("the outcome never holds a control, a direction change or half a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const shown = visible(name, 50);
      assert.ok(shown.isWellFormed());
      assert.doesNotMatch(shown, /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u2028\u2029]/u);
    }),
  );
});
