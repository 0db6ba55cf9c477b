// A paired node that comes back with more commands or abilities: the owner is asked for the difference.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";

import { beyond, joined, within } from "../../../src/gateway/node-abilities.ts";
import type { NodeAbilities } from "../../../src/protocol/methods/devices.ts";
import { until } from "../../harness/exec.ts";
import {
  dispose,
  newIdentity,
  openclaw,
  operator,
  startGateway,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";
import { ranFine, scriptedNode, type ScriptedNode } from "../../harness/node.ts";

interface Row {
  readonly nodeId: string;
  readonly caps: readonly string[];
  readonly commands: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>>;
}
interface Request extends Row {
  readonly requestId: string;
  readonly isRepair: boolean;
  readonly added?: NodeAbilities;
}

describe("a paired node that reconnects", () => {
  let gateway: TestGateway;
  let wire: Wire;
  before(async () => {
    gateway = await startGateway();
    wire = await operator(gateway);
  });
  after(async () => {
    wire.end();
    await dispose(gateway);
  });

  const identity = newIdentity();
  const connect = (offer: Partial<NodeAbilities>): Promise<ScriptedNode> =>
    scriptedNode(gateway, {
      identity,
      connect: { extra: { caps: ["system"], commands: ["system.which"], ...offer } },
    }).then((node) => {
      node.script(() => ranFine("done"));
      return node;
    });
  const leave = async (node: ScriptedNode): Promise<void> => {
    node.end();
    await node.wire.closed;
    await until(rowOf, ({ commands }) => commands.length === 0);
  };
  const rowOf = async (): Promise<Row> => {
    const { nodes } = await wire.call("node.list", {});
    return nodes.find(({ nodeId }) => nodeId === identity.id) ?? { nodeId: "", caps: [], commands: [] };
  };
  const pending = async (method = "node.pair.list"): Promise<Request[]> =>
    ((await wire.request(method, {})).payload as { pending: Request[] }).pending;
  const invoke = (command: string): ReturnType<Wire["request"]> =>
    wire.request("node.invoke", { nodeId: identity.id, command, params: {}, idempotencyKey: crypto.randomUUID() });
  const wider = {
    caps: ["system", "camera"],
    commands: ["system.which", "system.run"],
    permissions: { "screen.record": true, "camera.capture": false },
  };

  test("with the same or fewer commands keeps them without a question", async () => {
    await leave(await connect({}));
    const node = await connect({ commands: [] });
    assert.deepEqual(await pending(), []);
    assert.deepEqual((await rowOf()).commands, []);
    node.end();
    await node.wire.closed;
  });

  test("with more commands keeps the approved ones until the owner approves the rest", async () => {
    const node = await connect(wider);
    const { caps, commands, permissions } = await rowOf();
    assert.deepEqual(
      [caps, commands, permissions],
      [["system"], ["system.which"], { "screen.record": false, "camera.capture": false }],
    );
    assert.equal((await invoke("system.which")).ok, true);
    assert.equal((await invoke("system.run")).ok, false);
    assert.deepEqual(
      node.asked.map(({ command }) => command),
      ["system.which"],
    );
    const [request, ...others] = await pending();
    assert.deepEqual(others, []);
    assert.equal(request?.isRepair, true);
    assert.deepEqual(request?.added, {
      caps: ["camera"],
      commands: ["system.run"],
      permissions: { "screen.record": true },
    });
    const events = wire.frames.filter(({ event }) => event === "node.pair.requested").map(({ payload }) => payload);
    assert.deepEqual((events as Request[]).at(-1)?.requestId, request?.requestId);
    assert.match((await openclaw(gateway.home, ["devices", "list"])).stdout, /also: camera system\.run screen\.record/);

    const approved = await wire.request("node.pair.approve", { requestId: request?.requestId });
    assert.equal(approved.ok, true, JSON.stringify(approved.error));
    const now = await rowOf();
    assert.deepEqual(
      [now.caps, now.commands],
      [
        ["camera", "system"],
        ["system.run", "system.which"],
      ],
    );
    assert.equal(now.permissions?.["screen.record"], true);
    assert.equal((await invoke("system.run")).ok, true, "without connecting again");
    await leave(node);
    const again = await connect(wider);
    assert.deepEqual(await pending(), []);
    assert.equal((await invoke("system.run")).ok, true);
    await leave(again);
  });

  test("keeps its commands when the new ones are rejected, also after a restart of the gateway", async () => {
    const more = { ...wider, commands: [...wider.commands, "system.notify"] };
    const node = await connect(more);
    const [request] = await pending("device.pair.list");
    assert.equal((await wire.request("device.pair.reject", { requestId: request?.requestId })).ok, true);
    assert.equal((await invoke("system.notify")).ok, false);
    await leave(node);
    wire.end();
    await gateway.stop();
    gateway = await startGateway({ home: gateway.home });
    wire = await operator(gateway);
    const next = await connect(more);
    assert.deepEqual((await rowOf()).commands, ["system.run", "system.which"]);
    assert.equal((await invoke("system.notify")).ok, false);
    assert.deepEqual((await pending())[0]?.added?.commands, ["system.notify"]);
    await leave(next);
  });

  test("with yet other commands replaces its request: an answer applies to what was shown", async () => {
    const one = await connect({ commands: ["system.which", "system.notify"] });
    const [first] = await pending();
    await leave(one);
    const two = await connect({ commands: ["system.which", "camera.snap"] });
    const stale = await wire.request("node.pair.approve", { requestId: first?.requestId });
    assert.equal(stale.ok, false);
    assert.deepEqual(
      (await pending()).map(({ added }) => added?.commands),
      [["camera.snap"]],
    );
    assert.deepEqual((await rowOf()).commands, ["system.which"]);
    await leave(two);
  });
});

test("never has more commands than it offers or than were approved", () => {
  const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"));
  const permissions = fc.dictionary(fc.constantFrom("p", "q"), fc.boolean(), { noNullPrototype: true });
  const abilities: fc.Arbitrary<NodeAbilities> = fc
    .tuple(names, names, permissions)
    .map(([caps, commands, granted]) => ({ caps, commands, permissions: granted }));
  fc.assert(
    fc.property(abilities, abilities, (offered, approved) => {
      const has = within(offered, approved);
      assert.equal(beyond(has, offered), undefined);
      assert.equal(beyond(has, approved), undefined);
      const more = beyond(offered, approved);
      if (more === undefined) assert.deepEqual(has, offered);
      else assert.equal(beyond(offered, joined(approved, more)), undefined);
    }),
  );
});
