import assert from "node:assert/strict";
import { test } from "node:test";

import { formatAge, formatCount, formatDate, formatDuration, formatElapsed, formatTimestamp } from "./format.ts";

test("durations show their two largest units", () => {
  const hour = 3_600_000;
  const cases = [0, 999, 61_000, hour, 27 * hour + 5 * 60_000, -5].map((ms) => formatDuration(ms));
  assert.deepEqual(cases, ["0 s", "0 s", "1 min 1 s", "1 h", "1 d 3 h", "0 s"]);
});

test("ages show one unit", () => {
  const ages = [0, 4999, 5000, 125_000, 7_200_000, 3 * 86_400_000, -1000].map((ms) =>
    formatAge(1_000_000, 1_000_000 + ms),
  );
  assert.deepEqual(ages, ["just now", "just now", "5 s ago", "2 min ago", "2 h ago", "3 d ago", "just now"]);
});

test("elapsed times and counts use the unit and plural that fit", () => {
  assert.deepEqual([0.4, 12, 1500, 61_000].map(formatElapsed), ["0 ms", "12 ms", "1.5 s", "1 min 1 s"]);
  assert.deepEqual(
    [formatCount(1, "tool"), formatCount(2, "tool"), formatCount(0, "entry", "entries")],
    ["1 tool", "2 tools", "0 entries"],
  );
});

test("dates have one format in every locale, with the zone when it is not the local one", () => {
  const at = Date.parse("2026-11-17T01:30:00Z");
  assert.equal(formatDate(at, "Europe/Berlin"), "2026-11-17 02:30 (Europe/Berlin)");
  assert.match(formatDate(at), /^2026-11-1[678] \d\d:\d\d$/);
  assert.equal(formatDate(at, "Mars/Phobos"), formatDate(at));
  assert.equal(formatDate(NaN), "unknown time");
});

test("a timestamp of today shows the time of day, an older one the date as well", () => {
  const at = Date.parse("2026-11-17T12:30:00Z");
  assert.match(formatTimestamp(at, at), /^\d\d:30$/);
  assert.equal(formatTimestamp(at, at + 3 * 86_400_000), formatDate(at));
});
