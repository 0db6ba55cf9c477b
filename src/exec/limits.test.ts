// Limits from the environment: clamped, and ignored when the value is not a number.
import assert from "node:assert/strict";
import { test } from "node:test";

import { limitsOf } from "./limits.ts";

const given = (words: string) =>
  limitsOf({ PI_BASH_MAX_OUTPUT_CHARS: words, OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS: words });

test("uses the documented defaults without a whole number", () => {
  const usual = { aggregateChars: 200_000, pendingChars: 30_000 };
  assert.deepEqual(limitsOf({}), usual);
  for (const words of ["", "  ", "soon", "-5", "1e3", "0x10", "1.5", "99999999999999999999"])
    assert.deepEqual(given(words), usual, words);
});

test("clamps each value", () => {
  assert.deepEqual(given("0"), { aggregateChars: 1000, pendingChars: 1000 });
  assert.deepEqual(given(" 5000 "), { aggregateChars: 5000, pendingChars: 5000 });
  assert.deepEqual(given("900000000"), { aggregateChars: 200_000, pendingChars: 200_000 });
});
