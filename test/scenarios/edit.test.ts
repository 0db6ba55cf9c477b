// Runs edit/NNN_name: copy input, make the call, compare the tree with expected; `fails` and `says` for refusals.
import assert from "node:assert/strict";
import { cpSync, globSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { openFixture, outcomeOf } from "../../src/tool/fs/fixture.cases.ts";

interface Scenario {
  readonly args: Record<string, unknown>;
  readonly fails?: string;
  readonly says?: string;
}

const folder = join(import.meta.dirname, "edit");

for (const name of readdirSync(folder).toSorted()) {
  test(`edit ${name}`, async () => {
    const fixture = openFixture();
    after(() => fixture.close());
    const { args, fails = "ok", says = "" } = JSON.parse(readFileSync(join(folder, name, "call.json"), "utf8")) as Scenario;
    const workspace = join(fixture.home, "scenario");
    cpSync(join(folder, name, "input"), workspace, { recursive: true });
    const { code, output } = await outcomeOf(fixture.use("edit", args, { workspace }));
    assert.equal(code, fails, output);
    assert.ok(output.includes(says), output);
    assert.deepEqual(treeOf(workspace), treeOf(join(folder, name, "expected")));
  });
}

function treeOf(root: string): Record<string, string> {
  const files = globSync("**/{*,.*}", { cwd: root }).filter((path) => statSync(join(root, path)).isFile());
  return Object.fromEntries(files.toSorted().map((path) => [path, readFileSync(join(root, path)).toString("latin1")]));
}
