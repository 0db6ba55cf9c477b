// Environment variables override the defaults of the schema, but not the file.
import assert from "node:assert/strict";
import { test } from "node:test";

import { withEnvironment } from "./environment-defaults.ts";

const filled = { tools: { exec: { backgroundMs: 10_000, cleanupMs: 1_800_000, ask: "on-miss" } } };
const exec = (more: object): unknown => ({ tools: { exec: { ...filled.tools.exec, ...more } } });

test("replace a default, within bounds", () => {
  assert.deepEqual(withEnvironment(filled, {}, {}), filled);
  const env = { PI_BASH_YIELD_MS: "250", PI_BASH_JOB_TTL_MS: "1000" };
  assert.deepEqual(withEnvironment(filled, {}, env), exec({ backgroundMs: 250, cleanupMs: 60_000 }));
  const large = { PI_BASH_YIELD_MS: "999999999", PI_BASH_JOB_TTL_MS: "999999999" };
  assert.deepEqual(withEnvironment(filled, {}, large), exec({ backgroundMs: 120_000, cleanupMs: 10_800_000 }));
});

test("keep the value of the file, and ignore values that are not numbers", () => {
  const parsed = { tools: { exec: { backgroundMs: 10_000 } } };
  assert.deepEqual(withEnvironment(filled, parsed, { PI_BASH_YIELD_MS: "250" }), filled);
  assert.deepEqual(withEnvironment(filled, {}, { PI_BASH_YIELD_MS: "soon", PI_BASH_JOB_TTL_MS: "-1" }), filled);
});
