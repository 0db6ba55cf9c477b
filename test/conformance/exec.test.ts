// docs/conformance-exec.md names tests; this keeps the names true.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { root } from "../kit.ts";

test("every test the table of the exec document names is there", () => {
  const table = readFileSync(join(root, "docs", "conformance-exec.md"), "utf8");
  const rows = [...table.matchAll(/^\| (.+?) +\| `(.+?)` +\| (.+?) +\|$/gm)];
  assert.ok(rows.length > 80, `${rows.length} rows`);
  const lost = rows.filter(([, , file = "", name = ""]) => {
    const named = name.replaceAll("\\|", "|");
    return !readFileSync(join(root, file), "utf8").includes(named);
  });
  assert.deepEqual(
    lost.map(([line]) => line),
    [],
  );
});
