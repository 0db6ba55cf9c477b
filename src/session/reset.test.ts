// When a session resets, by rule and time.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { SessionKey } from "../core/names.ts";
import { isStale, lastBoundary, resetRule } from "./reset.ts";

const key = (rest: string): SessionKey => `agent:main:${rest}` as SessionKey;
const at = (hour: number, minute = 0, day = 10): number => new Date(2026, 5, day, hour, minute).getTime();

test("prefers the rule of the channel, then of the chat type, then the general one, then 4 am", () => {
  const config = {
    session: {
      reset: { mode: "idle", idleMinutes: 30 },
      resetByType: { group: { mode: "daily", atHour: 6 }, dm: { mode: "idle", idleMinutes: 5 } },
      resetByChannel: { telegram: { mode: "daily", atHour: 2, idleMinutes: 60 } },
    },
  } as const;
  assert.deepEqual(resetRule(config, key("main"), "telegram"), { atHour: 2, idleMinutes: 60 });
  assert.deepEqual(resetRule(config, key("slack:group:1")), { atHour: 6, idleMinutes: undefined });
  assert.deepEqual(resetRule(config, key("main")), { atHour: undefined, idleMinutes: 5 });
  assert.deepEqual(resetRule(config, key("slack:channel:1:thread:2")), { atHour: undefined, idleMinutes: 30 });
  assert.deepEqual(resetRule({}, key("main")), { atHour: 4, idleMinutes: undefined });
  assert.deepEqual(resetRule({ session: { idleMinutes: 9 } }, key("main")), { atHour: undefined, idleMinutes: 9 });
});

test("resets daily, after a pause, or at the earlier of both", () => {
  const daily = { atHour: 4, idleMinutes: undefined };
  const idle = { atHour: undefined, idleMinutes: 30 };
  const both = { atHour: 4, idleMinutes: 30 };
  const rows = [
    [daily, at(3, 59), at(4, 1), true],
    [daily, at(4, 1), at(23), false],
    [daily, at(23, 0, 9), at(3), false],
    [idle, at(10), at(10, 30), false],
    [idle, at(10), at(10, 31), true],
    [both, at(10), at(10, 31), true],
    [both, at(3, 50), at(4, 5), true],
    [both, at(10), at(10, 5), false],
  ] as const;
  for (const [rule, updatedAt, now, stale] of rows)
    assert.equal(isStale(rule, updatedAt, now), stale, JSON.stringify({ rule, updatedAt, now }));
});

test("takes the boundary of yesterday before the hour", () => {
  assert.equal(lastBoundary(4, at(3, 59)), at(4, 0, 9));
  assert.equal(lastBoundary(4, at(4)), at(4));
});
