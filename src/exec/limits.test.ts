// Limits of the environment: bounded, and what is no number is not set.
import assert from "node:assert/strict";
import { test } from "node:test";

import { limitsOf } from "./limits.ts";

const usual = { yieldMs: 10_000, aggregateChars: 200_000, pendingChars: 30_000, cleanupMs: undefined };

test("nothing set, or nothing that is a whole number: as documented", () => {
  assert.deepEqual(limitsOf({}), usual);
  for (const words of ["", "  ", "soon", "-5", "1e3", "0x10", "1.5", "99999999999999999999"])
    assert.deepEqual(
      limitsOf({
        PI_BASH_YIELD_MS: words,
        PI_BASH_MAX_OUTPUT_CHARS: words,
        OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS: words,
        PI_BASH_JOB_TTL_MS: words,
      }),
      usual,
      words,
    );
});

test("each is held within its bounds", () => {
  const all = (value: string) =>
    limitsOf({
      PI_BASH_YIELD_MS: value,
      PI_BASH_MAX_OUTPUT_CHARS: value,
      OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS: value,
      PI_BASH_JOB_TTL_MS: value,
    });
  assert.deepEqual(all("0"), { yieldMs: 10, aggregateChars: 1000, pendingChars: 1000, cleanupMs: 0 });
  assert.deepEqual(all(" 5000 "), { yieldMs: 5000, aggregateChars: 5000, pendingChars: 5000, cleanupMs: 5000 });
  assert.deepEqual(all("900000000"), {
    yieldMs: 120_000,
    aggregateChars: 200_000,
    pendingChars: 200_000,
    cleanupMs: 900_000_000,
  });
});
