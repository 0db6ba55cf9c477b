import assert from "node:assert/strict";
import { test } from "node:test";

import { filterTools, groupTools, toolStatus } from "./tool-list.ts";
import type { CatalogRow } from "../../src/protocol/methods/tools.ts";

const tool = (name: string, change: Partial<CatalogRow> = {}): CatalogRow => ({
  name,
  summary: "",
  description: "",
  source: "core",
  built: true,
  available: true,
  allowed: true,
  parameters: {},
  decision: { tool: name, allowed: true, layers: [], warnings: [] },
  explain: "",
  ...change,
});

const read = tool("read", { group: "fs", summary: "Read a file" });
const write = tool("write", { group: "fs", allowed: false, available: false });
const browser = tool("browser", { group: "ui", built: false, available: false });
const image = tool("image");
const all = [read, image, browser, write];

test("a blocked tool is shown as blocked even if it is not available", () => {
  assert.deepEqual(all.map(toolStatus), ["allowed", "allowed", "not available", "blocked"]);
});

test("the filter matches all words in any order and case", () => {
  assert.deepEqual(filterTools(all, " FILE read ", "all"), [read]);
  assert.deepEqual(filterTools(all, "", "blocked"), [write]);
  assert.deepEqual(filterTools(all, "fs", "allowed"), [read]);
});

test("groups keep their order, ungrouped tools come last", () => {
  assert.deepEqual(groupTools(all), [
    { group: "group:fs", tools: [read, write] },
    { group: "group:ui", tools: [browser] },
    { group: "ungrouped", tools: [image] },
  ]);
  assert.deepEqual(groupTools([]), []);
});
