import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import type { Config } from "../../config/schema/index.ts";
import { isActive, minuteOfDay, zoneOf } from "./hours.ts";

const at = (iso: string): number => Date.parse(iso);
const config = (userTimezone?: string): Config =>
  ({ agents: { defaults: userTimezone === undefined ? {} : { userTimezone } } }) as Config;

const cases: readonly (readonly [start: string, end: string, zone: string, when: string, open: boolean])[] = [
  ["09:00", "17:00", "UTC", "2026-03-01T08:59:59Z", false],
  ["09:00", "17:00", "UTC", "2026-03-01T09:00:00Z", true],
  ["09:00", "17:00", "UTC", "2026-03-01T16:59:59Z", true],
  ["09:00", "17:00", "UTC", "2026-03-01T17:00:00Z", false],
  ["08:00", "24:00", "UTC", "2026-03-01T23:59:59Z", true],
  ["08:00", "24:00", "UTC", "2026-03-02T00:00:00Z", false],
  ["00:00", "24:00", "UTC", "2026-03-02T00:00:00Z", true],
  ["22:00", "06:00", "UTC", "2026-03-01T23:00:00Z", true],
  ["22:00", "06:00", "UTC", "2026-03-02T05:59:00Z", true],
  ["22:00", "06:00", "UTC", "2026-03-02T06:00:00Z", false],
  ["22:00", "06:00", "UTC", "2026-03-02T21:59:00Z", false],
  ["10:00", "10:00", "UTC", "2026-03-02T10:00:00Z", false],
  // Half an hour and three quarters off the hour.
  ["09:00", "10:00", "Asia/Kolkata", "2026-03-01T03:30:00Z", true],
  ["09:00", "10:00", "Asia/Kathmandu", "2026-03-01T03:15:00Z", true],
  // 02:30 does not exist in Vienna on 2026-03-29 and exists twice on 2026-10-25.
  ["02:00", "03:00", "Europe/Vienna", "2026-03-29T00:59:00Z", false],
  ["02:00", "03:00", "Europe/Vienna", "2026-03-29T01:00:00Z", false],
  ["03:00", "04:00", "Europe/Vienna", "2026-03-29T01:00:00Z", true],
  ["02:00", "03:00", "Europe/Vienna", "2026-10-25T00:30:00Z", true],
  ["02:00", "03:00", "Europe/Vienna", "2026-10-25T01:30:00Z", true],
  ["02:00", "03:00", "Europe/Vienna", "2026-10-25T02:00:00Z", false],
];
for (const [start, end, timezone, when, open] of cases)
  test(`${when} is ${open ? "" : "not "}within ${start} to ${end} ${timezone}`, () => {
    assert.equal(isActive({ start, end, timezone }, at(when), config()), open);
  });

test("is always active without hours, and accepts only a start or only an end", () => {
  assert.equal(isActive(undefined, 0, config()), true);
  assert.equal(isActive({}, 0, config()), true);
  assert.equal(isActive({ start: "12:00", timezone: "UTC" }, at("2026-01-01T13:00:00Z"), config()), true);
  assert.equal(isActive({ end: "12:00", timezone: "UTC" }, at("2026-01-01T13:00:00Z"), config()), false);
});

test("uses the person's zone, the host's or a named one, and the person's for an unknown name", () => {
  const host = Intl.DateTimeFormat().resolvedOptions().timeZone;
  assert.deepEqual(
    [undefined, "user", "local", "Asia/Tokyo", "Nowhere/City"].map((zone) => zoneOf(zone, config("America/Lima"))),
    ["America/Lima", "America/Lima", host, "Asia/Tokyo", "America/Lima"],
  );
  assert.equal(zoneOf(undefined, config()), host);
});

const zones = ["UTC", "Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"];
const clock = fc.integer({ min: 0, max: 1439 }).map((minute) => {
  const two = (count: number): string => String(count).padStart(2, "0");
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
});
const moment = fc.integer({ min: at("2024-01-01T00:00:00Z"), max: at("2028-12-31T00:00:00Z") });

test("splits every day into a window and its complement without overlap or gap, in any zone and over clock changes", () => {
  fc.assert(
    fc.property(clock, clock, fc.constantFrom(...zones), moment, (start, end, timezone, now) => {
      fc.pre(start !== end);
      const inside = isActive({ start, end, timezone }, now, config());
      const outside = isActive({ start: end, end: start, timezone }, now, config());
      assert.notEqual(inside, outside);
    }),
    { numRuns: 500 },
  );
});

test("computes the minute of the day that a local clock shows", () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), moment, (timeZone, now) => {
      const wall = new Date(now).toLocaleTimeString("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
      const [hour, minute] = wall.split(":").map(Number);
      assert.equal(minuteOfDay(now, timeZone), (hour ?? 0) * 60 + (minute ?? 0));
    }),
    { numRuns: 300 },
  );
});
