// docs/conformance-*.md name tests; this keeps the names true.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { root } from "../harness/gateway.ts";

const tables = [
  { file: "conformance-exec.md", rows: 80 },
  { file: "conformance-automation.md", rows: 120 },
  { file: "conformance-web.md", rows: 50 },
  { file: "conformance-browser.md", rows: 85 },
  { file: "conformance-mcp.md", rows: 55 },
] as const;

for (const { file, rows: least } of tables) {
  test(`every test that ${file} names is there`, () => {
    const table = readFileSync(join(root, "docs", file), "utf8");
    const rows = [...table.matchAll(/^\| (.+?) +\| `(.+?)` +\| (.+?) +\|$/gm)];
    assert.ok(rows.length >= least, `${rows.length} rows`);
    const lost = rows.filter(([, , source = "", name = ""]) => {
      const named = name.replaceAll("\\|", "|");
      return !readFileSync(join(root, source), "utf8").includes(named);
    });
    assert.deepEqual(
      lost.map(([line]) => line),
      [],
    );
  });
}
