// Patches of jobs: other fields stay, null clears, another kind replaces.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AgentId } from "../core/names.ts";
import { checkJob } from "./check.ts";
import type { JobBody } from "./job.ts";
import { normalizeJob } from "./normalize.ts";
import { patched } from "./patch.ts";

const NOW = Date.parse("2026-06-01T12:00:00Z");
const HOUR = 3_600_000;
const body = checkJob(
  normalizeJob({
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

test("leaves the job unchanged with an empty patch", () => {
  assert.deepEqual(after({}), body);
  assert.deepEqual(after({ id: "x", state: { nextRunAtMs: 1 } }), body);
});

test("merges payload fields of the same kind, clears with null or empty, and accepts flat fields", () => {
  assert.deepEqual(after({ payload: { message: "stop", model: null } }).payload, {
    kind: "agentTurn",
    message: "stop",
    thinking: "low",
  });
  assert.deepEqual(after({ message: "flat" }).payload, { ...body.payload, message: "flat" });
  assert.equal(after({ description: "" }).description, undefined);
});

test("replaces a payload of another kind and changes the session target", () => {
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

test("keeps the anchor of the same interval, and resets it for another one", () => {
  assert.deepEqual(after({ schedule: { kind: "every", everyMs: HOUR } }).schedule, body.schedule);
  assert.deepEqual(after({ everyMs: 2 * HOUR }).schedule, { kind: "every", everyMs: 2 * HOUR, anchorMs: NOW });
});

test("merges delivery", () => {
  assert.deepEqual(after({ delivery: { mode: "none" } }).delivery, { mode: "none", channel: "telegram", to: "7" });
  assert.deepEqual(after({ delivery: { to: null } }).delivery, { mode: "announce", channel: "telegram" });
});

test("changes a job of a removed agent, and rejects an unknown agent in the patch", () => {
  const orphan = { ...body, agentId: "ghost" as AgentId };
  assert.deepEqual(after({ enabled: false }, orphan), { ...orphan, enabled: false });
  assert.equal(after({ agentId: null }, orphan).agentId, undefined);
  assert.throws(() => after({ agentId: "nobody" }), { code: "cron.invalid" });
});

test("renames a one-shot whose time has passed, but does not enable it", () => {
  const over: JobBody = { ...body, enabled: false, schedule: { kind: "at", at: "2026-05-01T00:00:00.000Z" } };
  assert.equal(after({ name: "m" }, over).name, "m");
  assert.throws(() => after({ enabled: true }, over), /lies in the past/);
  assert.equal(after({ enabled: true, schedule: { at: "1h" } }, over).enabled, true);
});
