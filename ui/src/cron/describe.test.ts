import assert from "node:assert/strict";
import { test } from "node:test";

import { deliveryWords, nextWords, payloadWords, runWords, scheduleWords, toMoment, zoneOf } from "./describe.ts";

test("schedules in words", () => {
  assert.equal(scheduleWords({ kind: "every", everyMs: 5_400_000 }), "every 1 h 30 min");
  assert.equal(scheduleWords({ kind: "cron", expr: "0 7 * * *", tz: "Europe/Berlin" }), "0 7 * * * (Europe/Berlin)");
  assert.equal(scheduleWords({ kind: "cron", expr: "0\u202e7" }), "0\\u{202e}7");
  assert.match(scheduleWords({ kind: "at", at: "2031-05-06T07:08:00.000Z" }), /^once, .*2031/);
  assert.equal(scheduleWords({ kind: "at", at: "never" }), "once, at an unknown time");
});

test("what comes next", () => {
  const at = (nextRunAtMs?: number): string =>
    nextWords({ enabled: true, state: nextRunAtMs === undefined ? {} : { nextRunAtMs } }, 1000);
  assert.deepEqual([at(), at(1000), at(61_000)], ["no further time", "due", "in 1 min"]);
  assert.equal(nextWords({ enabled: false, state: { nextRunAtMs: 5 } }, 1), "disabled");
  assert.equal(nextWords({ enabled: false, state: { runningAtMs: 5 } }, 1), "running now");
});

test("what it does and where its result goes", () => {
  assert.deepEqual(payloadWords({ payload: { kind: "tool", tool: "read", args: { path: "a" } } }), {
    what: "the tool read, no model",
    text: '{"path":"a"}',
  });
  assert.deepEqual(payloadWords({ payload: { kind: "agentTurn", message: 7 } }), {
    what: "a turn of the agent",
    text: "",
  });
  assert.equal(deliveryWords({ sessionTarget: "main" }), "the main session answers itself");
  assert.equal(deliveryWords({ sessionTarget: "isolated", delivery: { mode: "none" } }), "nowhere");
  assert.equal(
    deliveryWords({ sessionTarget: "isolated", delivery: { mode: "announce" } }),
    "announced where you were last",
  );
  assert.equal(
    deliveryWords({ sessionTarget: "isolated", delivery: { mode: "announce", channel: "telegram", to: "42" } }),
    "announced on telegram to 42",
  );
  assert.equal(runWords({}), "");
  assert.equal(runWords({ why: "late", missed: 3 }), "late, stands for 3 missed");
});

test("the next time of a job with a zone is told in that zone, which is named", () => {
  const at = Date.parse("2026-11-17T01:30:00Z");
  assert.equal(zoneOf({ schedule: { kind: "cron", expr: "30 2 * * *", tz: "Europe/Berlin" } }), "Europe/Berlin");
  assert.equal(zoneOf({ schedule: { kind: "every", everyMs: 1000 } }), undefined);
  assert.match(toMoment(at, "Europe/Berlin"), /2:30:00.*\(Europe\/Berlin\)$/);
  assert.equal(toMoment(at), new Date(at).toLocaleString());
  assert.equal(toMoment(at, "Mars/Phobos"), new Date(at).toLocaleString());
});
