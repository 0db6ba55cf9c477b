import assert from "node:assert/strict";
import { test } from "node:test";

import { ToolError } from "../core/error.ts";
import type { NodeFacts } from "../exec/node-port.ts";
import { chooseTarget, concernsNodes, type TargetContext, type TargetRequest } from "./browser-target.ts";

const node = (nodeId: string, facts: Partial<NodeFacts> = {}): NodeFacts => ({
  nodeId,
  displayName: nodeId.slice(0, 4),
  platform: "linux",
  connected: true,
  commands: ["browser.proxy"],
  ...facts,
});
const [mini, desk] = [node("mini-000000000001"), node("desk-000000000002")];
const away = node("away-000000000003", { connected: false, commands: [] });
const plain = node("none-000000000004", { commands: ["system.run"] });

type Nodes = NonNullable<NonNullable<TargetContext<NodeFacts>["config"]["gateway"]>["nodes"]>;

interface Case {
  readonly given?: TargetRequest;
  readonly nodes?: readonly NodeFacts[];
  readonly config?: Nodes;
  /** Enabled and allowHostControl. */
  readonly sandbox?: readonly [boolean, boolean];
}

function choose({ given = {}, nodes = [], config = {}, sandbox }: Case): string {
  const rules = sandbox && { enabled: sandbox[0], allowHostControl: sandbox[1] };
  try {
    const place = chooseTarget(given, { config: { gateway: { nodes: config } }, nodes, sandbox: rules });
    return place.target === "node" ? `node ${place.node.nodeId.slice(0, 4)}` : place.target;
  } catch (error) {
    assert.ok(error instanceof ToolError && error.code === "browser.bad-target", String(error));
    return `${error.message} → ${error.hint}`;
  }
}

test("a call of a session without a sandbox runs on the host, or on the only node with a browser", () => {
  assert.equal(choose({}), "host");
  assert.equal(choose({ nodes: [mini] }), "node mini");
  assert.equal(choose({ nodes: [mini, plain, away] }), "node mini");
  assert.equal(choose({ nodes: [mini, desk] }), "host");
  assert.equal(choose({ nodes: [mini, desk], config: { browser: { node: "desk" } } }), "node desk");
  assert.equal(choose({ nodes: [mini], config: { browser: { node: "desk" } } }), "host");
  assert.equal(choose({ nodes: [mini], config: { browser: { mode: "manual" } } }), "host");
  assert.equal(choose({ nodes: [mini], config: { browser: { mode: "off" } } }), "host");
  assert.equal(choose({ nodes: [mini], config: { denyCommands: ["browser.proxy"] } }), "host");
});

test("an explicit target and the profile chrome are never routed to a node", () => {
  assert.equal(choose({ given: { target: "host" }, nodes: [mini] }), "host");
  assert.equal(choose({ given: { profile: "chrome" }, nodes: [mini] }), "host");
  assert.equal(choose({ given: { profile: "work" }, nodes: [mini] }), "node mini");
});

test("a node is found by id, name or pin", () => {
  for (const given of [{ node: "mini" }, { node: "mini-0000", target: "node" }, { target: "node", node: mini.nodeId }])
    assert.equal(choose({ given, nodes: [mini, desk] }), "node mini");
  assert.equal(choose({ given: { target: "node" }, nodes: [desk] }), "node desk");
  const config: Nodes = { browser: { node: "desk", mode: "manual" } };
  assert.equal(choose({ given: { target: "node" }, nodes: [mini, desk], config }), "node desk");
});

test("a node that cannot serve is refused with what can", () => {
  const given = { target: "node" };
  assert.match(choose({ given }), /^no connected node offers a browser → use target=host/);
  assert.match(choose({ given, nodes: [mini, desk] }), /mini \(mini-0000000\), desk .* → name one with the node/);
  assert.match(choose({ given: { node: "away" }, nodes: [mini, away] }), /away .* is not connected → use mini/);
  assert.match(choose({ given: { node: "none" }, nodes: [plain] }), /offers no browser → on that machine/);
  assert.match(choose({ given: { node: "lost" }, nodes: [mini] }), /unknown node: lost \(known: mini/);
  const off: Nodes = { browser: { mode: "off" } };
  assert.match(choose({ given, nodes: [mini], config: off }), /gateway\.nodes\.browser\.mode is off/);
  const denied: Nodes = { denyCommands: ["browser.proxy"] };
  assert.match(choose({ given, nodes: [mini], config: denied }), /^no connected node offers a browser/);
});

test("targets that do not exist or contradict the node are refused", () => {
  assert.match(choose({ given: { target: "custom" } }), /no target "custom" → use one of: sandbox, host, node/);
  assert.match(choose({ given: { target: "host", node: "mini" }, nodes: [mini] }), /contradict/);
  assert.match(choose({ given: { target: "sandbox" } }), /not sandboxed → leave out target/);
});

test("a sandboxed session uses its sandbox, and leaves it only with allowHostControl", () => {
  const nodes = [mini];
  assert.equal(choose({ sandbox: [true, false], nodes }), "sandbox");
  assert.equal(choose({ sandbox: [true, true], nodes }), "sandbox");
  assert.equal(choose({ given: { target: "sandbox" }, sandbox: [true, false] }), "sandbox");
  const denied = /sandbox\.browser\.allowHostControl is false\) → use target=sandbox; or the owner can allow it/;
  for (const given of [{ target: "host" }, { target: "node" }, { node: "mini" }, { profile: "chrome" }]) {
    assert.match(choose({ given, sandbox: [true, false], nodes }), denied);
    assert.notEqual(choose({ given, sandbox: [false, true], nodes }), "sandbox");
  }
  assert.equal(choose({ given: { target: "host" }, sandbox: [false, true] }), "host");
  assert.match(choose({ sandbox: [false, false] }), /sandbox\.browser\.enabled is false\) → the owner can enable it/);
  assert.match(choose({ sandbox: [false, true] }), /→ use target=host; or the owner/);
});

test("nodes are listed only for calls that may go to one", () => {
  const asks = (given: TargetRequest, sandboxed = false, mode: "auto" | "manual" = "auto"): boolean =>
    concernsNodes(given, { gateway: { nodes: { browser: { mode } } } }, sandboxed);
  assert.deepEqual(
    [asks({}), asks({ target: "node" }), asks({ node: "mini" }), asks({ node: "mini" }, true, "manual")],
    [true, true, true, true],
  );
  assert.deepEqual(
    [asks({}, true), asks({ target: "host" }), asks({ profile: "chrome" }), asks({}, false, "manual")],
    [false, false, false, false],
  );
});
