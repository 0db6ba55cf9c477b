// Runs patch/NNN_name: copy before, apply patch.txt, compare the tree with after; expect.json names failures and summaries.
import assert from "node:assert/strict";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { OpenClawError } from "../../src/core/error.ts";
import { openFixture, outcomeOf } from "../../src/tool/fs/fixture.cases.ts";

interface Expectation {
  readonly fails?: string;
  /** Line of the patch that the error names. */
  readonly line?: number;
  readonly says?: string;
  readonly summary?: unknown;
}

const folder = join(import.meta.dirname, "patch");

for (const name of readdirSync(folder).toSorted()) {
  test(`patch ${name}`, async (context) => {
    const fixture = openFixture();
    context.after(() => fixture.close());
    const workspace = join(fixture.home, "scenario");
    mkdirSync(workspace);
    if (existsSync(join(folder, name, "before"))) cpSync(join(folder, name, "before"), workspace, { recursive: true });
    const expected = expectationOf(name);
    const input = readFileSync(join(folder, name, "patch.txt"), "utf8");
    const work = fixture.use("apply_patch", { input }, { workspace });
    const { code, output } = await outcomeOf(work);
    assert.equal(code, expected.fails ?? "ok", output);
    assert.ok(output.includes(expected.says ?? ""), output);
    if (expected.line !== undefined) await work.catch((error: unknown) => assertLine(error, expected.line));
    if (expected.summary !== undefined) assert.deepEqual((await work).details, { summary: expected.summary });
    const isDone = expected.fails === undefined;
    assert.deepEqual(treeOf(workspace, isDone), treeOf(join(folder, name, "after"), isDone));
    assert.deepEqual(globSync("unfinished/????????????????", { cwd: fixture.state }), []);
  });
}

function expectationOf(name: string): Expectation {
  const file = join(folder, name, "expect.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Expectation) : {};
}

/** In words for the model, and as a number for programs. */
function assertLine(error: unknown, line: number | undefined): void {
  assert.ok(error instanceof OpenClawError);
  assert.equal((error.details as { line?: number }).line, line, error.message);
  assert.ok(error.message.startsWith(`apply_patch, line ${line}: `), error.message);
}

/** With folders for a patch that failed: it leaves none behind. */
function treeOf(root: string, onlyFiles: boolean): Record<string, string> {
  const paths = existsSync(root) ? globSync("**/{*,.*}", { cwd: root }) : [];
  const isFile = (path: string): boolean => statSync(join(root, path)).isFile();
  return Object.fromEntries(
    paths
      .filter((path) => !onlyFiles || isFile(path))
      .toSorted()
      .map((path) => [path, isFile(path) ? readFileSync(join(root, path)).toString("latin1") : "/"]),
  );
}
