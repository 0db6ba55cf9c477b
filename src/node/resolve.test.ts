// Resolving a reference to a node, one kind of match after the other.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { NodeFacts } from "../exec/node-port.ts";
import { resolveNode } from "./resolve.ts";

const node = (nodeId: string, displayName?: string, remoteIp?: string): NodeFacts => ({
  nodeId,
  ...(displayName === undefined ? {} : { displayName }),
  platform: "linux",
  connected: true,
  commands: [],
  ...(remoteIp === undefined ? {} : { remoteIp }),
});
const nodes = [
  node("abcdef0123456789", "Ada's Mac Mini", "203.0.113.9"),
  node("abcdef9999999999", "build box"),
  node("123456aaaaaaaaaa", "abcdef0123456789"),
  node("777777aaaaaaaaaa", "twin"),
  node("888888aaaaaaaaaa", "Twin"),
];
const idOf = (reference: string): string => resolveNode(reference, nodes).nodeId;
const refused = (reference: string, code: string): void => assert.throws(() => idOf(reference), { code });

test("a full id wins over a name that looks like it", () => assert.equal(idOf("abcdef0123456789"), "abcdef0123456789"));
test("matches a name in any spelling", () => {
  for (const name of ["Ada's Mac Mini", "adas-mac-mini", "ADAS MAC MINI", "adas_mac_mini", " Ada’s mac mini "])
    assert.equal(idOf(name), "abcdef0123456789", name);
});
test("matches an address", () => assert.equal(idOf("203.0.113.9"), "abcdef0123456789"));
test("matches a prefix of an id of at least six characters", () => {
  assert.equal(idOf("abcdef99"), "abcdef9999999999");
  assert.equal(idOf("ABCDEF99"), "abcdef9999999999");
  refused("12345", "node.unknown");
});
test("rejects an ambiguous match", () => {
  refused("twin", "node.ambiguous");
  refused("abcdef", "node.ambiguous");
});
test("rejects an unknown reference", () => {
  for (const word of ["", "  ", "-", "nobody"]) refused(word, "node.unknown");
});
