// The list of files in which something failed, from a real run of node:test.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { root } from "./ground.mjs";

const header = 'import { test } from "node:test";\n';
const files: Readonly<Record<string, string>> = {
  "good.test.mjs": `${header}test("a", () => {});\n`,
  "two.test.mjs": `${header}test("a", () => { throw new Error("a"); });\ntest("b", (t) => t.test("c", () => { throw new Error("c"); }));\n`,
  "todo.test.mjs": `${header}test("a", { todo: true }, () => { throw new Error("a"); });\n`,
  "crash.test.mjs": `${header}test("a", () => {});\nprocess.exit(3);\n`,
};

test("each file in which something failed is named once, also one that ended before its tests", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "failed-files-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const paths = Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  const reporter = `--test-reporter=${join(root, "scripts/failed-files.ts")}`;
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const { stdout } = spawnSync(process.execPath, ["--test", reporter, ...paths], { encoding: "utf8", env });
  assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), [
    join(folder, "crash.test.mjs"),
    join(folder, "two.test.mjs"),
  ]);
});
