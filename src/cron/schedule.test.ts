// Fire times of schedules: after now, without drift, and correct over clock changes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";

import type { Schedule } from "./job.ts";
import { localTime, previewOf } from "./preview.ts";
import { firesFrom, lastFire, nextFire } from "./schedule.ts";

const utc = (text: string): number => Date.parse(text);
const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"];
const moment = fc.integer({ min: utc("2020-01-01T00:00:00Z"), max: utc("2035-01-01T00:00:00Z") });
const everySchedule = fc.record({
  kind: fc.constant("every" as const),
  everyMs: fc.integer({ min: 1000, max: 40 * 86_400_000 }),
  anchorMs: moment,
});
const cronSchedule = fc.record({
  kind: fc.constant("cron" as const),
  expr: fc
    .tuple(
      fc.oneof(fc.constant("*"), fc.integer({ min: 0, max: 59 }).map(String), fc.constantFrom("*/5", "*/7", "10-20")),
      fc.oneof(fc.constant("*"), fc.integer({ min: 0, max: 23 }).map(String), fc.constantFrom("*/2", "1-4")),
      fc.oneof(fc.constant("*"), fc.integer({ min: 1, max: 28 }).map(String)),
      fc.oneof(fc.constant("*"), fc.integer({ min: 1, max: 12 }).map(String)),
      fc.oneof(fc.constant("*"), fc.integer({ min: 0, max: 6 }).map(String)),
    )
    .map((fields) => fields.join(" ")),
  tz: fc.constantFrom(...zones),
});
const anySchedule: fc.Arbitrary<Schedule> = fc.oneof(everySchedule, cronSchedule);

describe("any schedule", () => {
  test("fires strictly after the given time", () => {
    fc.assert(
      fc.property(anySchedule, moment, (schedule, now) => {
        const next = nextFire(schedule, now);
        assert.ok(next !== undefined && next > now);
      }),
      { numRuns: 400 },
    );
  });

  test("has no fire between two consecutive ones", () => {
    fc.assert(
      fc.property(anySchedule, moment, (schedule, now) => {
        const first = nextFire(schedule, now) ?? 0;
        const second = nextFire(schedule, first) ?? 0;
        assert.equal(nextFire(schedule, Math.floor((first + second) / 2)), second);
        assert.equal(lastFire(schedule, now, second - 1), first);
        assert.equal(lastFire(schedule, now, second), second);
        assert.equal(lastFire(schedule, now, first - 1), undefined);
      }),
      { numRuns: 200 },
    );
  });

  test("every: counts from its anchor, so that late runs cause no drift", () => {
    fc.assert(
      fc.property(everySchedule, moment, (schedule, now) => {
        const next = nextFire(schedule, now) ?? 0;
        assert.equal(Math.abs((next - schedule.anchorMs) % schedule.everyMs), 0);
        assert.ok(next - now <= schedule.everyMs);
      }),
    );
  });
});

test("both day fields: does not skip the first days of March", () => {
  for (const tz of ["UTC", "Europe/Berlin", "America/New_York"]) {
    for (const [day, weekday] of [
      [1, 1],
      [1, 2],
      [2, 2],
    ]) {
      const schedule = { kind: "cron", expr: `0 12 ${day} * ${weekday}`, tz } as const;
      const [first = 0] = firesFrom(schedule, nextFire(schedule, utc("2026-02-25T00:00:00Z")) ?? 0, Infinity, 1);
      assert.equal(localTime(first, tz), `2026-03-0${day} 12:00:00`, schedule.expr);
    }
  }
});

test("at: fires once", () => {
  const schedule = { kind: "at", at: "2030-01-31T08:00:00.000Z" } as const;
  const at = utc(schedule.at);
  assert.equal(nextFire(schedule, at - 1), at);
  assert.equal(nextFire(schedule, at), undefined);
});

test("reads six fields with seconds", () => {
  const now = utc("2026-01-01T00:00:00Z");
  assert.deepEqual(firesFrom({ kind: "cron", expr: "*/20 * * * * *", tz: "UTC" }, now, now + 60_000, 9), [
    now,
    now + 20_000,
    now + 40_000,
  ]);
});

describe("over clock changes", () => {
  for (const [tz, from, to] of [
    ["Europe/Berlin", "2026-03-28T00:00:00Z", "2026-03-31T00:00:00Z"],
    ["Europe/Berlin", "2026-10-24T00:00:00Z", "2026-10-27T00:00:00Z"],
    ["America/New_York", "2026-03-07T00:00:00Z", "2026-03-10T00:00:00Z"],
    ["America/New_York", "2026-10-31T00:00:00Z", "2026-11-03T00:00:00Z"],
    ["Australia/Lord_Howe", "2026-04-03T00:00:00Z", "2026-04-06T00:00:00Z"],
  ] as const) {
    for (const [hour, minute] of [
      [1, 30],
      [2, 0],
      [2, 30],
      [3, 0],
      [4, 15],
    ] as const) {
      test(`${minute} ${hour} * * * in ${tz} from ${from.slice(0, 10)}: fires once a day like a minute-by-minute search`, () => {
        const schedule = { kind: "cron", expr: `${minute} ${hour} * * *`, tz } as const;
        const fires = firesFrom(schedule, nextFire(schedule, utc(from)) ?? 0, utc(to), 99);
        assert.deepEqual(fires, walk(utc(from), utc(to), tz, hour, minute));
      });
    }
  }

  test("shows the next times with their offset, and marks clock changes", () => {
    const preview = previewOf(
      { kind: "cron", expr: "30 2 * * *", tz: "Europe/Berlin" },
      utc("2026-03-27T12:00:00Z"),
      5,
    );
    assert.deepEqual(preview, {
      tz: "Europe/Berlin",
      fires: [
        { atMs: utc("2026-03-28T01:30:00Z"), local: "2026-03-28 02:30:00", offset: "+01:00" },
        {
          atMs: utc("2026-03-29T01:00:00Z"),
          local: "2026-03-29 03:00:00",
          offset: "+02:00",
          note: "clocks went forward 1 h before this",
        },
        { atMs: utc("2026-03-30T00:30:00Z"), local: "2026-03-30 02:30:00", offset: "+02:00" },
        { atMs: utc("2026-03-31T00:30:00Z"), local: "2026-03-31 02:30:00", offset: "+02:00" },
        { atMs: utc("2026-04-01T00:30:00Z"), local: "2026-04-01 02:30:00", offset: "+02:00" },
      ],
    });
    const [, back] = previewOf(
      { kind: "cron", expr: "0 12 * * *", tz: "Europe/Berlin" },
      utc("2026-10-24T09:00:00Z"),
      2,
    ).fires;
    assert.equal(back?.note, "clocks went back 1 h before this");
  });
});

/** Each day once: at the first minute that shows the time, or, where the clock jumps over it, the first one after. */
function walk(fromMs: number, toMs: number, tz: string, hour: number, minute: number): number[] {
  const wanted = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
  const found = new Map<string, number>();
  let before = localTime(fromMs, tz);
  for (let at = fromMs + 60_000; at < toMs; at += 60_000) {
    const now = localTime(at, tz);
    const day = now.slice(0, 10);
    const [was, is] = [before.slice(11, 16), now.slice(11, 16)];
    const jumped = before.slice(0, 10) === day && was < wanted && is > wanted;
    if (!found.has(day) && (is === wanted || jumped)) found.set(day, at);
    before = now;
  }
  return [...found.values()];
}
