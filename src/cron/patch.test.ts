// Changes of jobs: what is not named stays, null clears, another kind replaces.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AgentId } from "../core/names.ts";
import { checkJob } from "./check.ts";
import type { JobBody } from "./job.ts";
import { normaliseJob } from "./normalise.ts";
import { patched } from "./patch.ts";

const NOW = Date.parse("2026-06-01T12:00:00Z");
const HOUR = 3_600_000;
const body = checkJob(
  normaliseJob({
    name: "n",
    description: "d",
    schedule: { kind: "every", everyMs: HOUR, anchorMs: NOW - 5 },
    payload: { kind: "agentTurn", message: "go", model: "a/b", thinking: "low" },
    delivery: { mode: "announce", channel: "telegram", to: "7" },
  }),
  {},
  NOW,
);
const after = (patch: unknown, from: JobBody = body): JobBody => patched(from, patch, {}, NOW);

test("nothing named, nothing changed", () => {
  assert.deepEqual(after({}), body);
  assert.deepEqual(after({ id: "x", state: { nextRunAtMs: 1 } }), body);
});

test("fields of a payload of the same kind are merged, null and empty clear; fields may be flat", () => {
  assert.deepEqual(after({ payload: { message: "stop", model: null } }).payload, {
    kind: "agentTurn",
    message: "stop",
    thinking: "low",
  });
  assert.deepEqual(after({ message: "flat" }).payload, { ...body.payload, message: "flat" });
  assert.equal(after({ description: "" }).description, undefined);
});

test("another kind replaces the payload and takes the job where it belongs", () => {
  const main = after({ payload: { kind: "systemEvent", text: "hi" } });
  assert.deepEqual(
    [main.sessionTarget, main.payload, main.delivery],
    ["main", { kind: "systemEvent", text: "hi" }, undefined],
  );
  const back = after({ payload: { kind: "exec", command: "x" } }, main);
  assert.deepEqual([back.sessionTarget, back.delivery], ["isolated", { mode: "announce" }]);
  assert.throws(() => after({ payload: { kind: "systemEvent", text: "hi" }, sessionTarget: "isolated" }), {
    code: "cron.invalid",
  });
});

test("the same interval keeps its anchor, another begins anew", () => {
  assert.deepEqual(after({ schedule: { kind: "every", everyMs: HOUR } }).schedule, body.schedule);
  assert.deepEqual(after({ everyMs: 2 * HOUR }).schedule, { kind: "every", everyMs: 2 * HOUR, anchorMs: NOW });
});

test("delivery is merged", () => {
  assert.deepEqual(after({ delivery: { mode: "none" } }).delivery, { mode: "none", channel: "telegram", to: "7" });
  assert.deepEqual(after({ delivery: { to: null } }).delivery, { mode: "announce", channel: "telegram" });
});

test("a job of an agent that is gone can still be changed; naming one that is not there is refused", () => {
  const orphan = { ...body, agentId: "ghost" as AgentId };
  assert.deepEqual(after({ enabled: false }, orphan), { ...orphan, enabled: false });
  assert.equal(after({ agentId: null }, orphan).agentId, undefined);
  assert.throws(() => after({ agentId: "nobody" }), { code: "cron.invalid" });
});

test("a one-shot whose time is over may be renamed, not enabled as it is", () => {
  const over: JobBody = { ...body, enabled: false, schedule: { kind: "at", at: "2026-05-01T00:00:00.000Z" } };
  assert.equal(after({ name: "m" }, over).name, "m");
  assert.throws(() => after({ enabled: true }, over), /lies in the past/);
  assert.equal(after({ enabled: true, schedule: { at: "1h" } }, over).enabled, true);
});
