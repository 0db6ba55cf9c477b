import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { changesBetween, hashOf, hasChanges, parseRemoteTool, type RemoteTool } from "./remote-tool.ts";

const tool = (more: object = {}): RemoteTool =>
  parseRemoteTool({
    name: "echo",
    description: "Says it.",
    inputSchema: { type: "object", properties: {} },
    ...more,
  }) ?? assert.fail("not a tool");

test("the hash covers description, schemas and the read-only claim, and no order of keys", () => {
  const base = hashOf(tool());
  const changed = [
    { description: "Says it. " },
    { inputSchema: { type: "object", properties: { x: {} } } },
    { outputSchema: { type: "object" } },
    { title: "Echo" },
    { annotations: { readOnlyHint: true } },
  ];
  assert.equal(new Set([base, ...changed.map((more) => hashOf(tool(more)))]).size, changed.length + 1);
  assert.equal(hashOf(tool({ inputSchema: { properties: {}, type: "object" } })), base);
});

test("changes are named as added, changed and removed", () => {
  const [one, two] = [tool(), tool({ name: "two" })];
  const { added, changed, removed } = changesBetween(
    [one, two],
    [tool({ description: "New." }), tool({ name: "three" })],
  );
  assert.deepEqual(
    [added.map(({ name }) => name), changed.map(({ after }) => after.name), removed.map(({ name }) => name)],
    [["three"], ["echo"], ["two"]],
  );
  assert.equal(hasChanges(changesBetween([one, two], [two, one])), false);
});

test("an entry that is not a tool is left out, whatever it is", () => {
  fc.assert(fc.property(fc.jsonValue(), (raw) => void parseRemoteTool(raw)));
  for (const raw of [
    null,
    {},
    { name: "a b", inputSchema: { type: "object" } },
    { name: "a" },
    { name: "a", inputSchema: [] },
    { name: "a", inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
  ])
    assert.equal(parseRemoteTool(raw), undefined);
});
