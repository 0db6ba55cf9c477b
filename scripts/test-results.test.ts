// The counts printed by npm test, from real runs of node:test.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { root } from "./project.mjs";
import type { Result } from "./test-results.ts";

const sample = `import { describe, test } from "node:test";
test("good", () => {});
test("left out", { skip: "no such program" }, () => {});
describe("group", () => {
  test("inner good", () => {});
  test("inner bad", () => { throw new Error("broken on purpose"); });
});
describe("whole group", { skip: "no browser" }, () => test("never run", () => {}));`;

test("counts tests, and keeps the reason of each failure and of each skipped test or suite", (t) => {
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
  assert.deepEqual(
    [passed, skipped, failed.length],
    [
      2,
      [
        { name: "left out", reason: "no such program" },
        { name: "whole group", reason: "no browser" },
      ],
      1,
    ],
  );
  assert.match(failed[0]?.name ?? "", /sample\.test\.mjs: inner bad$/);
  assert.match(failed[0]?.detail ?? "", /broken on purpose/);
});
