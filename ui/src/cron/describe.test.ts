import assert from "node:assert/strict";
import { test } from "node:test";

import {
  describeDelivery,
  describeNextRun,
  describePayload,
  describeRun,
  describeSchedule,
  timeZoneOf,
} from "./describe.ts";

test("describes schedules", () => {
  assert.equal(describeSchedule({ kind: "every", everyMs: 5_400_000, anchorMs: 0 }), "every 1 h 30 min");
  assert.equal(describeSchedule({ kind: "cron", expr: "0 7 * * *", tz: "Europe/Berlin" }), "0 7 * * * (Europe/Berlin)");
  assert.equal(describeSchedule({ kind: "cron", expr: "0\u202e7" }), "0\\u{202e}7");
  assert.match(describeSchedule({ kind: "at", at: "2031-05-06T07:08:00.000Z" }), /^once, .*2031/);
  assert.equal(describeSchedule({ kind: "at", at: "never" }), "once, unknown time");
});

test("describes the next run of a job", () => {
  const at = (nextRunAtMs?: number): string =>
    describeNextRun({ enabled: true, state: nextRunAtMs === undefined ? {} : { nextRunAtMs } }, 1000);
  assert.deepEqual([at(), at(1000), at(61_000)], ["no more runs", "due", "in 1 min"]);
  assert.equal(describeNextRun({ enabled: false, state: { nextRunAtMs: 5 } }, 1), "disabled");
  assert.equal(describeNextRun({ enabled: false, state: { runningAtMs: 5 } }, 1), "running now");
});

test("describes what a job does and where its result goes", () => {
  assert.deepEqual(describePayload({ payload: { kind: "tool", tool: "read", args: { path: "a" } } }), {
    what: "run the tool read, without a model",
    text: '{"path":"a"}',
  });
  assert.deepEqual(describePayload({ payload: { kind: "agentTurn", message: 7 as unknown as string } }), {
    what: "ask the agent",
    text: "",
  });
  assert.equal(describeDelivery({ sessionTarget: "main" }), "the main session replies");
  assert.equal(describeDelivery({ sessionTarget: "isolated", delivery: { mode: "none" } }), "kept in the history only");
  assert.equal(
    describeDelivery({ sessionTarget: "isolated", delivery: { mode: "announce" } }),
    "announced in your last active chat",
  );
  assert.equal(
    describeDelivery({ sessionTarget: "isolated", delivery: { mode: "announce", channel: "telegram", to: "42" } }),
    "announced on telegram to 42",
  );
  assert.equal(describeRun({}), "");
  assert.equal(describeRun({ why: "late", missed: 3 }), "late, covers 3 missed runs");
});

test("times of a job with a time zone are shown in that zone", () => {
  assert.equal(timeZoneOf({ schedule: { kind: "cron", expr: "30 2 * * *", tz: "Europe/Berlin" } }), "Europe/Berlin");
  assert.equal(timeZoneOf({ schedule: { kind: "every", everyMs: 1000, anchorMs: 0 } }), undefined);
});
