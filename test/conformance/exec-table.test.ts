// docs/conformance-exec.md names tests: every one of them must be there, or the table promises what nothing shows.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { root } from "../kit.ts";

const table = readFileSync(join(root, "docs", "conformance-exec.md"), "utf8");

test("every test the table of exec names exists", () => {
  const cited = table.split("\n").flatMap((line) => line.split(" | ").at(-1)?.split("<br>") ?? []);
  const named = cited.flatMap((cell) => {
    const [, file = ""] = /`(\S+\.test\.ts)`: /.exec(cell) ?? [];
    return [...cell.matchAll(/“([^”]+)”/g)].map(([, name = ""]) => ({ file, name: name.replaceAll("\\|", "|") }));
  });
  const gone = named.filter(
    ({ file, name }) => !readFileSync(join(root, file), "utf8").replaceAll('\\"', '"').includes(name),
  );
  assert.deepEqual(gone, []);
  assert.ok(named.length > 100, `only ${named.length} are named`);
});
