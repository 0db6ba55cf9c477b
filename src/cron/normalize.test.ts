// The forms of jobs that callers can send, and the errors for others.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "fast-check";

import { OpenClawError } from "../core/error.ts";
import { checkJob } from "./check.ts";
import { atMs } from "./check-schedule.ts";
import { durationMs } from "../base/duration.ts";
import { normalizeJob } from "./normalize.ts";

const NOW = Date.parse("2026-06-01T12:00:00Z");
const made = (input: unknown) => checkJob(normalizeJob(input), {}, NOW);
const every = { kind: "every", everyMs: 60_000 };
const turn = { kind: "agentTurn", message: "go" };
const event = { kind: "systemEvent", text: "hi" };

function refusal(input: unknown): string {
  try {
    made(input);
  } catch (error) {
    assert.ok(
      error instanceof OpenClawError && error.code === "cron.invalid" && error.hint !== undefined,
      String(error),
    );
    return error.message;
  }
  return "taken";
}

describe("spellings", () => {
  const whole = {
    name: "n",
    enabled: true,
    schedule: { ...every, anchorMs: NOW },
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: turn,
    delivery: { mode: "announce" },
  };

  test("converts full, wrapped and flat jobs to the same form", () => {
    const job = { name: "n", schedule: every, payload: turn };
    for (const input of [
      job,
      { data: job },
      { job },
      { data: { job } },
      { name: "n", everyMs: 60_000, message: "go" },
      { name: "n", schedule: { everyMs: 60_000 }, payload: { message: "go" } },
      { name: "n", schedule: { kind: "Every", every: "1m" }, payload: { kind: "AGENTTURN", message: "go" } },
    ])
      assert.deepEqual(made(input), whole);
  });

  test("turns text into a system event of the main session without delivery", () => {
    assert.deepEqual(made({ name: "n", at: "2026-07-01T08:00:00", text: "tea" }), {
      name: "n",
      enabled: true,
      schedule: { kind: "at", at: "2026-07-01T08:00:00.000Z" },
      sessionTarget: "main",
      wakeMode: "now",
      payload: { kind: "systemEvent", text: "tea" },
    });
  });

  test("moves the target of older payloads to delivery", () => {
    const older = { ...turn, deliver: true, channel: "telegram", to: "-100123:topic:7", bestEffortDeliver: true };
    assert.deepEqual(made({ name: "n", schedule: every, payload: older }).delivery, {
      mode: "announce",
      channel: "telegram",
      to: "-100123:topic:7",
      bestEffort: true,
    });
    assert.deepEqual(made({ name: "n", schedule: every, payload: { ...turn, deliver: false } }).delivery, {
      mode: "none",
    });
    assert.deepEqual(
      made({ name: "n", schedule: every, payload: turn, provider: "slack", to: "channel:C1" }).delivery,
      {
        mode: "announce",
        channel: "slack",
        to: "channel:C1",
      },
    );
  });

  test("accepts atMs of older jobs, milliseconds as number or text, and durations from now", () => {
    const at = NOW + 7_200_000;
    for (const schedule of [{ atMs: at }, { kind: "at", at }, { at: String(at) }, { at: "2h" }, { at: "in 120m" }])
      assert.deepEqual(made({ name: "n", schedule, text: "x" }).schedule, {
        kind: "at",
        at: new Date(at).toISOString(),
      });
  });

  test("names a job without a name after its payload", () => {
    assert.equal(made({ schedule: every, payload: { ...turn, message: "Sum up\nmy day" } }).name, "Sum up my day");
  });

  test("accepts jobs without a model: a command or a tool", () => {
    assert.deepEqual(made({ name: "n", schedule: every, command: "df -h" }).payload, {
      kind: "exec",
      command: "df -h",
    });
    assert.deepEqual(made({ name: "n", schedule: every, tool: "sessions_list" }).payload, {
      kind: "tool",
      tool: "sessions_list",
      args: {},
    });
  });

  test("ignores fields that the server owns", () => {
    const { payload: _p, ...rest } = made({
      ...whole,
      id: "x",
      createdAtMs: 1,
      updatedAtMs: 2,
      state: { nextRunAtMs: 3 },
    });
    assert.deepEqual(Object.keys(rest).sort(), [
      "delivery",
      "enabled",
      "name",
      "schedule",
      "sessionTarget",
      "wakeMode",
    ]);
  });
});

describe("names the problem and the fix in errors", () => {
  for (const [input, words] of [
    [{ name: "n", schedule: every, payload: turn, sessionTarget: "main" }, /main session takes a systemEvent/],
    [{ name: "n", schedule: every, payload: event, sessionTarget: "isolated" }, /isolated job takes an agentTurn/],
    [{ name: "n", schedule: every, payload: event, delivery: { mode: "announce" } }, /delivers nothing/],
    [{ name: "n", payload: turn }, /missing "schedule"/],
    [{ name: "n", schedule: every }, /missing "payload"/],
    [{ name: "n", schedule: { kind: "weekly" }, payload: turn }, /schedule.kind/],
    [{ name: "n", schedule: every, payload: { kind: "dance" } }, /payload.kind/],
    [{ name: "n", schedule: every, payload: { kind: "agentTurn", message: " " } }, /payload.message/],
    [{ name: "n", schedule: every, payload: turn, color: "red" }, /no "color"/],
    [{ name: "n", schedule: { ...every, weekly: 1 }, payload: turn }, /no "weekly"/],
    [{ name: "n", schedule: every, payload: { ...turn, temperature: 1 } }, /no "temperature"/],
    [{ name: "n", schedule: every, payload: turn, agentId: "nobody" }, /no agent "nobody"/],
    [{ name: "n", schedule: every, payload: { ...turn, thinking: "loud" } }, /payload.thinking/],
    [{ name: "n", schedule: every, payload: { ...turn, timeoutSeconds: -1 } }, /timeoutSeconds/],
    [{ name: "n", schedule: every, payload: turn, misfire: "never" }, /misfire/],
    [{ name: "n", schedule: every, payload: { kind: "exec", command: "x", timeout: 99_999 } }, /payload.timeout/],
    [{ name: "n", schedule: { kind: "cron", expr: "0 0 31 2 *" }, payload: turn }, /never matches a time/],
    [{ name: "n", schedule: { kind: "cron", expr: "zzz" }, payload: turn }, /schedule.expr is not valid/],
    [{ name: "n", schedule: { kind: "cron", expr: "* * * * * * *" }, payload: turn }, /schedule.expr is not valid/],
    [{ name: "n", schedule: { kind: "at", at: "soon" }, payload: turn }, /not a time/],
  ] as const)
    test(String(words), () => assert.match(refusal(input), words));

  test("accepts any JSON completely or rejects it with a typed error", () => {
    const piece = fc.jsonValue({ maxDepth: 3 });
    const job = fc.record(
      {
        name: piece,
        schedule: piece,
        payload: piece,
        delivery: piece,
        misfire: piece,
        at: piece,
        everyMs: piece,
        message: piece,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(piece, job), (input) => {
        refusal(input);
      }),
      { numRuns: 500 },
    );
  });
});

test("reads times as UTC without a zone, with their own zone, or in the named zone", () => {
  const zoned = made({ name: "n", schedule: { at: "2026-07-01T08:00:00", tz: "Europe/Berlin" }, text: "x" });
  assert.deepEqual(zoned.schedule, { kind: "at", at: "2026-07-01T06:00:00.000Z" });
  const winter = made({ name: "n", schedule: { at: "2026-12-01T08:00:00", tz: "America/New_York" }, text: "x" });
  assert.deepEqual(winter.schedule, { kind: "at", at: "2026-12-01T13:00:00.000Z" });
  assert.equal(atMs("2026-01-02T03:04:05", NOW), Date.parse("2026-01-02T03:04:05Z"));
  assert.equal(atMs("2026-01-02T03:04:05+02:00", NOW), Date.parse("2026-01-02T01:04:05Z"));
  assert.equal(atMs("2026-01-02", NOW), Date.parse("2026-01-02T00:00:00Z"));
  assert.equal(atMs("2026-01-02 03:04", NOW), Date.parse("2026-01-02T03:04:00Z"));
  for (const [wall, zone, moment] of [
    ["2027-03-28T01:59:00", "Europe/Berlin", "2027-03-28T00:59:00Z"],
    ["2027-03-28T02:30:00", "Europe/Berlin", "2027-03-28T01:30:00Z"],
    ["2027-10-31T02:30:00", "Europe/Berlin", "2027-10-31T00:30:00Z"],
    ["2027-10-31T03:00:00", "Europe/Berlin", "2027-10-31T02:00:00Z"],
    ["2027-03-14T02:30:00", "America/New_York", "2027-03-14T07:30:00Z"],
    ["2027-11-07T01:30:00", "America/New_York", "2027-11-07T05:30:00Z"],
    ["2027-11-07T02:00:00", "America/New_York", "2027-11-07T07:00:00Z"],
  ] as const)
    assert.equal(atMs(wall, NOW, zone), Date.parse(moment), `${wall} ${zone}`);
  for (const bad of ["", "tomorrow", "2026-13-45T00:00:00Z", "12", null, {}]) assert.equal(atMs(bad, NOW), undefined);
});

test("rejects numbers out of range with both bounds", () => {
  const job = { name: "n", schedule: { everyMs: 60_000 }, payload: { kind: "agentTurn", message: "x" } };
  const words = (more: object): string => {
    try {
      made({ ...job, ...more });
      return "taken";
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(words({ payload: { ...job.payload, timeoutSeconds: 604_800 } }), "taken");
  assert.match(words({ payload: { ...job.payload, timeoutSeconds: 604_801 } }), /above 0, at most 604800/);
  assert.match(words({ schedule: { everyMs: 999 } }), /at least 1000, at most \d+/);
});

test("parses durations", () => {
  assert.deepEqual(["1500", "90s", "1h30m", "1.5h", "2d", "1w", "250ms", "h", "-5m", "5 x", ""].map(durationMs), [
    1500,
    90_000,
    5_400_000,
    5_400_000,
    172_800_000,
    604_800_000,
    250,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
