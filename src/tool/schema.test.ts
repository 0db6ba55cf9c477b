// All text of tools that a model reads, as a snapshot: a change shows up in review like code.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { describeBuiltinTools } from "../../scripts/describe-builtin.ts";
import { coreTools } from "./policy/groups.ts";

const tools = describeBuiltinTools();
const file = join(dirname(fileURLToPath(import.meta.url)), "schema.snap.json");

test("names, summaries, descriptions and parameters equal the snapshot (UPDATE_SNAPSHOT=1 records them)", () => {
  const now = JSON.parse(
    JSON.stringify(tools.map(({ name, summary, description, params }) => ({ name, summary, description, params }))),
  ) as unknown;
  if (process.env["UPDATE_SNAPSHOT"] === "1") writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
  assert.deepEqual(now, JSON.parse(readFileSync(file, "utf8")));
});

test("describes every parameter, also of nested objects, by a sentence, and advertises no alias", () => {
  const aliases = new Set(["file_path", "old_string", "new_string", "cmd", "cwd", "id", "runMode", "restartDelayMs"]);
  const visit = (properties: object, at: string): void => {
    for (const [name, schema] of Object.entries(properties) as [
      string,
      { description?: string; properties?: object },
    ][]) {
      assert.match(schema.description ?? "", /^\S.*\.$/, `${at}.${name}`);
      assert.ok(!aliases.has(name), `${at}.${name} is an alias`);
      visit(schema.properties ?? {}, `${at}.${name}`);
    }
  };
  for (const { name, params } of tools) visit(params.properties, name);
});

test("requires what read, write, edit and exec cannot work without", () => {
  const required = Object.fromEntries(tools.map(({ name, params }) => [name, params.required ?? []]));
  assert.deepEqual(
    [required["read"], required["write"], required["edit"], required["exec"]],
    [["path"], ["path", "content"], ["path", "oldText", "newText"], ["command"]],
  );
});

test("every tool has a policy group or name, a one-line summary and a closed schema", () => {
  for (const { name, summary, params } of tools) {
    assert.ok(coreTools.has(name), name);
    assert.ok(summary.length <= 80 && !summary.includes("\n"), name);
    assert.equal((params as { additionalProperties?: unknown }).additionalProperties, false, name);
  }
});
