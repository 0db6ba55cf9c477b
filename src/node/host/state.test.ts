// The stored state of a node host: per gateway, private, and rejected when damaged.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import {
  isSameGateway,
  nextNodeState,
  nodeStateFile,
  readNodeState,
  urlOf,
  writeNodeState,
  type NodeState,
} from "./state.ts";

const gateway = { host: "gw", port: 1, tls: false };
const fresh = { hostName: "box", newId: () => "fresh" };
const kept: NodeState = { version: 1, nodeId: "old", displayName: "Lab", gateway, token: "secret" };

describe("node.json", () => {
  test("keeps name, id and token for the same gateway", () => {
    assert.deepEqual(nextNodeState(kept, { gateway }, fresh), kept);
  });
  test("drops the token for another gateway, port, TLS setting or id", () => {
    for (const options of [
      { gateway: { ...gateway, host: "other" } },
      { gateway: { ...gateway, port: 2 } },
      { gateway: { ...gateway, tls: true } },
      { gateway, nodeId: "new" },
      { gateway, nodeId: "old" },
    ])
      assert.equal(nextNodeState(kept, options, fresh).token, undefined, JSON.stringify(options));
  });
  test("starts with a new id and the host name", () => {
    assert.deepEqual(nextNodeState(undefined, { gateway }, fresh), {
      version: 1,
      nodeId: "fresh",
      displayName: "box",
      gateway,
    });
  });
  test("is private, and rejected when damaged", () => {
    const state = mkdtempSync(join(tmpdir(), "node-state-"));
    try {
      assert.equal(readNodeState(state), undefined);
      writeNodeState(state, kept);
      assert.deepEqual(readNodeState(state), kept);
      assert.equal(statSync(nodeStateFile(state)).mode & 0o777, 0o600);
      for (const text of ["{", "[]", '{"version":2}']) {
        writeFileSync(nodeStateFile(state), text);
        assert.throws(() => readNodeState(state), { code: "node-host.state" });
      }
    } finally {
      rmSync(state, { recursive: true, force: true });
    }
  });
  test("gateway addresses", () => {
    assert.equal(urlOf(gateway), "ws://gw:1");
    assert.equal(urlOf({ host: "::1", port: 2, tls: true }), "wss://[::1]:2");
  });
});

test("do not share secrets between TLS and plain connections", () => {
  const place = { host: "gw.example", port: 443, tls: true };
  const open = { host: "::1", port: 18_789, tls: false };
  for (const [url, to, wanted] of [
    ["wss://gw.example", place, true],
    ["wss://GW.example:443/path", place, true],
    ["wss://gw.example", { ...place, tls: false }, false],
    ["ws://gw.example:443", place, false],
    ["wss://gw.example:8443", place, false],
    ["wss://gw.example.evil", place, false],
    ["ws://[::1]:18789", open, true],
    ["no address", open, false],
  ] as const)
    assert.equal(isSameGateway(url, to), wanted, url);
});
