// The counts that npm test prints come from real runs of node:test.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { root } from "./ground.mjs";
import type { Result } from "./test-results.ts";

const sample = `import { describe, test } from "node:test";
test("good", () => {});
test("left out", { skip: "no such program" }, () => {});
describe("group", () => {
  test("inner good", () => {});
  test("inner bad", () => { throw new Error("broken on purpose"); });
});`;

test("counts tests, not suites, and keeps the reason of a skip and of a failure", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-results-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "sample.test.mjs"), sample);
  const reporter = `--test-reporter=${join(root, "scripts/test-results.ts")}`;
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const ran = spawnSync(
    process.execPath,
    ["--test", "--test-isolation=none", reporter, join(folder, "sample.test.mjs")],
    {
      encoding: "utf8",
      env,
    },
  );
  const { passed, failed, skipped } = JSON.parse(ran.stdout) as Result;
  assert.deepEqual([passed, skipped, failed.length], [2, ["left out: no such program"], 1]);
  assert.match(failed[0]?.name ?? "", /sample\.test\.mjs: inner bad$/);
  assert.match(failed[0]?.detail ?? "", /broken on purpose/);
});
