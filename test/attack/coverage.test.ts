// Every case of README.md runs from its table or is named by a test.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { noShared, root, shared } from "../harness/gateway.ts";
import { readCases } from "./corpus.ts";

const runFromTables: ReadonlySet<string> = new Set(["fs", "apply_patch", "web.ssrf"]);

test("every attack case has a test", () => {
  const files = globSync("{src,test}/**/*.{test,cases}.ts", { cwd: root });
  const text = [...files, "test/conformance/policy.json"]
    .map((path) => readFileSync(join(root, path), "utf8"))
    .join("\n");
  const untested = readCases("cases").filter(
    ({ id, area }) => !area.startsWith("exec.") && !runFromTables.has(area) && !text.includes(id),
  );
  assert.deepEqual(untested, []);
});

test("README.md explains every case and every control", () => {
  const text = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
  const unexplained = [...readCases("cases"), ...readCases("controls")].filter(({ id }) => !text.includes(`| ${id} |`));
  assert.deepEqual(unexplained, []);
});

test("the tables hold every reference case of an area they cover", { skip: noShared }, () => {
  const file = join(shared, "attack", "corpus.json");
  assert.ok(existsSync(file));
  const known = readCases("cases");
  const areas = new Set(known.map(({ area }) => area));
  const ids = new Set(known.map(({ id }) => id));
  const reference = JSON.parse(readFileSync(file, "utf8")) as { id: string; area: string }[];
  assert.deepEqual(
    reference.filter(({ id, area }) => areas.has(area) && !ids.has(id)),
    [],
  );
});
