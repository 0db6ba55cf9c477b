// Every word a model reads of a tool is pinned here; a change shows up in review like code.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { systemClock } from "../base/clock.ts";
import { createLanes } from "../base/lane.ts";
import type { Exec } from "../exec/exec.ts";
import type { ProcessTable } from "../exec/processes.ts";
import type { Memory } from "../memory/memory.ts";
import type { Store } from "../store/store.ts";
import { builtinTools } from "./builtin.ts";
import { createServiceSlot } from "./gateway-services.ts";
import { coreTools } from "./policy/groups.ts";

const tools = builtinTools({
  store: {} as Store,
  clock: systemClock,
  version: "0",
  stateDir: "/s",
  configPath: "/s/c",
  home: "/h",
  approvalsPath: "/s/a",
  lanes: createLanes(),
  exec: {} as Exec,
  processes: {} as ProcessTable,
  memory: {} as Memory,
  services: createServiceSlot(),
});
const file = join(dirname(fileURLToPath(import.meta.url)), "schema.snap.json");

test("names, summaries, descriptions and parameters are as pinned (UPDATE_SNAPSHOT=1 pins them anew)", () => {
  const now = JSON.parse(
    JSON.stringify(tools.map(({ name, summary, description, params }) => ({ name, summary, description, params }))),
  ) as unknown;
  if (process.env["UPDATE_SNAPSHOT"] === "1") writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
  assert.deepEqual(now, JSON.parse(readFileSync(file, "utf8")));
});

test("every tool is known to policy, says one line, and takes nothing it does not name", () => {
  for (const { name, summary, params } of tools) {
    assert.ok(coreTools.has(name), name);
    assert.ok(summary.length <= 80 && !summary.includes("\n"), name);
    assert.equal((params as { additionalProperties?: unknown }).additionalProperties, false, name);
  }
});
