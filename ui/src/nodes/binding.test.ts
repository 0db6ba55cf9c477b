import assert from "node:assert/strict";
import { test } from "node:test";

import { OpenClawError } from "../../../src/core/error.ts";
import type { NodeRow } from "../../../src/protocol/methods/nodes.ts";
import { bindingsOf, choose, nodeOptions, patchOf, rebase, unmet, type Choice } from "./binding.ts";

const config = {
  tools: { exec: { host: "node", node: "aaaa" } },
  agents: { list: [{ id: "main" }, { id: "ada", tools: { exec: { node: "bbbb" } } }, { id: "eve", tools: "odd" }] },
};
const bindings = bindingsOf(config);

test("reads bindings from the effective config", () => {
  assert.deepEqual(bindings, {
    global: "aaaa",
    agents: [
      { id: "main", node: undefined },
      { id: "ada", node: "bbbb" },
      { id: "eve", node: undefined },
    ],
    host: "node",
  });
  for (const odd of [
    undefined,
    null,
    [],
    "x",
    { tools: null, agents: { list: {} } },
    { tools: { exec: { node: "" } } },
  ])
    assert.deepEqual(bindingsOf(odd), { global: undefined, agents: [], host: "sandbox" });
});

test("a choice replaces the previous one, and the stored value removes it", () => {
  const once = choose([], bindings, 0, "cccc");
  assert.deepEqual(once, [{ at: 0, from: undefined, to: "cccc" }]);
  assert.deepEqual(choose(once, bindings, 0, "dddd"), [{ at: 0, from: undefined, to: "dddd" }]);
  assert.deepEqual(choose(once, bindings, 0, undefined), []);
  assert.deepEqual(choose([], bindings, "global", "aaaa"), []);
});

test("keeps choices when another client changed the config, except for the same setting", () => {
  const choices: Choice[] = [
    { at: "global", from: "aaaa", to: undefined },
    { at: 1, from: "bbbb", to: "cccc" },
    { at: 2, from: undefined, to: "cccc" },
  ];
  assert.deepEqual(rebase(choices, bindings, bindings), choices);
  assert.deepEqual(rebase(choices, bindings, { ...bindings, global: "zzzz" }), choices.slice(1));
  const moved = { ...bindings, agents: bindings.agents.toSpliced(1, 1) };
  assert.deepEqual(rebase(choices, bindings, moved), choices.slice(0, 1));
});

test("the patch contains only the changed bindings", () => {
  assert.deepEqual(patchOf(undefined, [{ at: "global", from: "a", to: undefined }]), {
    tools: { exec: { node: null } },
  });
  assert.deepEqual(patchOf(undefined, [{ at: "global", from: undefined, to: "a" }]), {
    tools: { exec: { node: "a" } },
  });
  const marker = "__OPENCLAW_REDACTED__";
  const written = {
    agents: {
      list: [
        { id: "main", memorySearch: { remote: { apiKey: marker } } },
        { $include: "./ada.json" },
        { id: "eve", tools: { exec: { node: "b" } } },
        { id: "bob", tools: { exec: { node: "b", ask: "off" }, deny: ["edit"] } },
      ],
    },
  };
  const before = structuredClone(written);
  const to = (at: number, node: string | undefined): Choice => ({ at, from: undefined, to: node });
  assert.deepEqual(patchOf(written, [to(0, "n"), to(1, "n"), to(2, undefined), to(3, undefined)]), {
    agents: {
      list: [
        { id: "main", memorySearch: { remote: { apiKey: marker } }, tools: { exec: { node: "n" } } },
        { $include: "./ada.json", tools: { exec: { node: "n" } } },
        { id: "eve" },
        { id: "bob", tools: { exec: { ask: "off" }, deny: ["edit"] } },
      ],
    },
  });
  assert.deepEqual(written, before);
});

test("refuses to overwrite an included agents.list", () => {
  for (const written of [
    {},
    { agents: { $include: "./agents.json" } },
    { agents: { list: { $include: "./list.json" } } },
  ])
    assert.throws(
      () => patchOf(written, [{ at: 0, from: undefined, to: "n" }]),
      (error) => error instanceof OpenClawError && error.code === "page.included",
    );
});

test("reports choices that did not take effect", () => {
  const kept: Choice = { at: 1, from: "x", to: "bbbb" };
  const lost: Choice = { at: "global", from: "x", to: undefined };
  assert.deepEqual(unmet([kept, lost], bindings), [lost]);
});

test("offers nodes that can run commands, and the bound node in any case", () => {
  const node = (nodeId: string, change: Partial<NodeRow> = {}): NodeRow => ({
    nodeId,
    platform: "linux",
    caps: [],
    commands: ["system.run"],
    paired: true,
    connected: true,
    ...change,
  });
  const nodes = [
    node("a".repeat(64), { displayName: "build\u202eer" }),
    node("b".repeat(64), { commands: ["camera.snap"] }),
    node("c".repeat(64), { commands: [], connected: false }),
  ];
  const first = { value: "a".repeat(64), label: "build\\u{202e}er (aaaaaaaaaaaa)" };
  assert.deepEqual(nodeOptions(nodes, undefined), [first]);
  assert.deepEqual(nodeOptions(nodes, "a".repeat(64)), [first]);
  const also = (bound: string): string | undefined => nodeOptions(nodes, bound)[1]?.label;
  assert.equal(also("b".repeat(64)), "bbbbbbbbbbbb (cannot run commands)");
  assert.equal(also("c".repeat(64)), "cccccccccccc (not connected)");
  assert.equal(also("mac-mini"), "mac-mini (as written in the config)");
});
