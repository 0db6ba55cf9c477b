import assert from "node:assert/strict";
import { test } from "node:test";

import { count, toAge, toDuration, toShort } from "./words.ts";

test("durations name their two largest units", () => {
  const hour = 3_600_000;
  const cases = [0, 999, 61_000, hour, 27 * hour + 5 * 60_000, -5].map((ms) => toDuration(ms));
  assert.deepEqual(cases, ["0 s", "0 s", "1 min 1 s", "1 h", "1 d 3 h", "0 s"]);
});

test("ages name one unit", () => {
  const ages = [0, 4999, 5000, 125_000, 7_200_000, 3 * 86_400_000, -1000].map((ms) => toAge(1_000_000, 1_000_000 + ms));
  assert.deepEqual(ages, ["just now", "just now", "5 s ago", "2 min ago", "2 h ago", "3 d ago", "just now"]);
});

test("short times and counts", () => {
  assert.deepEqual([0.4, 12, 1500, 61_000].map(toShort), ["0 ms", "12 ms", "1.5 s", "1 min 1 s"]);
  assert.deepEqual(
    [count(1, "tool"), count(2, "tool"), count(0, "entry", "entries")],
    ["1 tool", "2 tools", "0 entries"],
  );
});
