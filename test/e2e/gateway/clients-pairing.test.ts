// Methods of published clients for nodes and voice: pairing by id on the record of devices, and talk mode.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { dispose, newIdentity, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";

describe("methods of published clients", () => {
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

  const ask = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const { ok, payload, error } = await wire.request(method, params);
    assert.equal(ok, true, JSON.stringify(error));
    return payload as Record<string, unknown>;
  };
  const listed = async (method: string, list: "pending" | "paired"): Promise<unknown[]> =>
    (await ask(method, {}))[list] as unknown[];

  test("announces the methods it serves, without speech and the wizard", async () => {
    const [hello] = wire.frames as { payload: { features: { methods: string[] } } }[];
    const announced = hello?.payload.features.methods ?? [];
    for (const method of ["node.pair.request", "node.pair.verify", "talk.mode"]) assert.ok(announced.includes(method));
    assert.deepEqual(
      announced.filter((method) => /^(?:tts|wizard)\./.test(method)),
      [],
    );
    for (const method of ["tts.status", "wizard.start"])
      assert.match((await wire.request(method, {})).error?.message ?? "", /unknown method/, method);
  });

  test("talk.mode is announced to every client", async () => {
    const mode = await ask("talk.mode", { enabled: true, phase: "listening" });
    assert.deepEqual([mode["enabled"], mode["phase"], typeof mode["ts"]], [true, "listening", "number"]);
    assert.deepEqual((await wire.event("talk.mode")).payload, mode);
    assert.equal((await ask("talk.mode", { enabled: false }))["phase"], null);
    assert.equal((await wire.request("talk.mode", { phase: "x" })).ok, false);
  });

  test("a node paired by its id is in the device records, and its token can be verified", async () => {
    const facts = {
      displayName: "Legacy",
      platform: "linux",
      version: "1",
      caps: ["system"],
      commands: ["system.run"],
    };
    const first = await ask("node.pair.request", { nodeId: "legacy-1", ...facts });
    const { requestId, ts, ...request } = first["request"] as Record<string, unknown>;
    assert.deepEqual([first["status"], first["created"], typeof ts], ["pending", true, "number"]);
    assert.deepEqual(request, { nodeId: "legacy-1", ...facts, silent: false, isRepair: false });
    const again = await ask("node.pair.request", { nodeId: "legacy-1" });
    assert.deepEqual(
      [again["created"], (again["request"] as Record<string, unknown>)["requestId"]],
      [false, requestId],
    );
    assert.equal(((await wire.event("node.pair.requested")).payload as { nodeId: string }).nodeId, "legacy-1");
    for (const method of ["node.pair.list", "device.pair.list"]) {
      const [waiting] = (await listed(method, "pending")) as { commands: string[] }[];
      assert.deepEqual(waiting?.commands, ["system.run"], method);
    }
    assert.deepEqual(await ask("node.pair.verify", { nodeId: "legacy-1", token: "x" }), { ok: false });

    const { node } = (await ask("node.pair.approve", { requestId })) as { node: { token: string; nodeId: string } };
    assert.match(node.token, /^[0-9a-f]{32}$/);
    const verified = (await ask("node.pair.verify", { nodeId: "legacy-1", token: node.token })) as {
      ok: boolean;
      node: { displayName: string };
    };
    assert.deepEqual([verified.ok, verified.node.displayName], [true, "Legacy"]);
    for (const token of [`${node.token}0`, node.token.toUpperCase(), "0".repeat(32)])
      assert.deepEqual(await ask("node.pair.verify", { nodeId: "legacy-1", token }), { ok: false });
    const repair = await ask("node.pair.request", { nodeId: "legacy-1", silent: true });
    assert.equal((repair["request"] as Record<string, unknown>)["isRepair"], true);
  });

  test("a pairing request for a node cannot take over the record of an operator", async () => {
    const identity = newIdentity();
    const other = await operator(gateway, { identity });
    const { ok, error } = await wire.request("node.pair.request", { nodeId: identity.id });
    assert.deepEqual([ok, error?.code], [false, "INVALID_REQUEST"]);
    other.end();
    const paired = (await listed("device.pair.list", "paired")) as { deviceId: string; roles: string[] }[];
    assert.deepEqual(paired.find(({ deviceId }) => deviceId === identity.id)?.roles, ["operator"]);
  });

  test("requires the pairing scope", async () => {
    const reader = await operator(gateway, { scopes: ["operator.read"] });
    for (const [method, params] of [
      ["node.pair.request", { nodeId: "x" }],
      ["node.pair.verify", { nodeId: "x", token: "y" }],
      ["talk.mode", { enabled: true }],
    ] as const)
      assert.match((await reader.request(method, params)).error?.message ?? "", /missing scope/, method);
    reader.end();
  });
});
