import assert from "node:assert/strict";
import { test } from "node:test";

import { firstDraft, issuesOf, scheduleOf, toJob, type JobDraft } from "./draft.ts";

const draft = (change: Partial<JobDraft>): JobDraft => ({ ...firstDraft, text: "go", ...change });
const at = "2031-05-06T07:08";

test("reports missing and malformed fields of a job", () => {
  assert.deepEqual([...issuesOf(firstDraft).keys()], ["text"]);
  assert.deepEqual([...issuesOf(draft({ when: "at" })).keys()], ["at"]);
  assert.deepEqual([...issuesOf(draft({ when: "cron", expr: " " })).keys()], ["expr"]);
  for (const amount of ["", "0", "-1", "soon", "0.0000000001"])
    assert.deepEqual([...issuesOf(draft({ amount })).keys()], ["amount"], amount);
  assert.equal(issuesOf(draft({})).size, 0);
});

test("a complete schedule can be previewed before the rest of the form is filled in", () => {
  assert.equal(scheduleOf(draft({ when: "at" })), undefined);
  assert.deepEqual(scheduleOf({ ...firstDraft, when: "at", at }), { kind: "at", at: new Date(at).toISOString() });
  assert.deepEqual(scheduleOf(draft({ amount: "1,5", unit: "days" })), { kind: "every", everyMs: 129_600_000 });
  assert.deepEqual(scheduleOf(draft({ when: "cron", expr: " 0 7 * * * ", tz: " " })), {
    kind: "cron",
    expr: "0 7 * * *",
  });
  assert.deepEqual(scheduleOf(draft({ when: "cron", expr: "0 7 * * *", tz: "Europe/Berlin" })), {
    kind: "cron",
    expr: "0 7 * * *",
    tz: "Europe/Berlin",
  });
});

test("agent turns and commands run in an isolated session; the channel is sent only when the result is announced", () => {
  const hourly = { kind: "every", everyMs: 3_600_000 };
  assert.deepEqual(toJob(draft({ channel: "telegram", to: "42", name: " tea ", agentId: "ada" })), {
    name: "tea",
    agentId: "ada",
    schedule: hourly,
    sessionTarget: "isolated",
    delivery: { mode: "announce", channel: "telegram", to: "42" },
    payload: { kind: "agentTurn", message: "go" },
  });
  assert.deepEqual(toJob(draft({ what: "exec", delivery: "none", channel: "telegram" })), {
    schedule: hourly,
    sessionTarget: "isolated",
    delivery: { mode: "none" },
    payload: { kind: "exec", command: "go" },
  });
});

test("a note goes to the main session, and a job that runs once can be kept", () => {
  assert.deepEqual(toJob(draft({ what: "systemEvent", wakeMode: "next-heartbeat", when: "at", at, isKept: true })), {
    schedule: { kind: "at", at: new Date(at).toISOString() },
    deleteAfterRun: false,
    sessionTarget: "main",
    wakeMode: "next-heartbeat",
    payload: { kind: "systemEvent", text: "go" },
  });
});
