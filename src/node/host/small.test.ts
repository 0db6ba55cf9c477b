// The small parts of a node host: what it keeps, what fits into a frame, what a yes is good for.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";

import type { Plan } from "../../exec/approval/plan.ts";
import { createConsents } from "./consents.ts";
import { fitting } from "./fitting.ts";
import { nextNodeState, nodeStateFile, readNodeState, urlOf, writeNodeState, type NodeState } from "./state.ts";

const gateway = { host: "gw", port: 1, tls: false };
const fresh = { hostName: "box", newId: () => "fresh" };
const kept: NodeState = { version: 1, nodeId: "old", displayName: "Lab", gateway, token: "secret" };

describe("node.json", () => {
  test("the same gateway keeps name, id and token", () => {
    assert.deepEqual(nextNodeState(kept, { gateway }, fresh), kept);
  });
  test("another gateway, another port, TLS or a new id forget the token", () => {
    for (const wishes of [
      { gateway: { ...gateway, host: "other" } },
      { gateway: { ...gateway, port: 2 } },
      { gateway: { ...gateway, tls: true } },
      { gateway, nodeId: "new" },
      { gateway, nodeId: "old" },
    ])
      assert.equal(nextNodeState(kept, wishes, fresh).token, undefined, JSON.stringify(wishes));
  });
  test("the first time: a new id, the name of the machine", () => {
    assert.deepEqual(nextNodeState(undefined, { gateway }, fresh), {
      version: 1,
      nodeId: "fresh",
      displayName: "box",
      gateway,
    });
  });
  test("written privately, read whole or refused", () => {
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
  test("addresses", () => {
    assert.equal(urlOf(gateway), "ws://gw:1");
    assert.equal(urlOf({ host: "::1", port: 2, tls: true }), "wss://[::1]:2");
  });
});

describe("an answer in a frame", () => {
  const answer = (stdout: string, stderr = ""): { id: string; payload: { stdout: string; stderr: string } } => ({
    id: "x",
    payload: { stdout, stderr },
  });
  test("what fits, or is no output, goes as it is", () => {
    for (const given of [answer("short"), { id: "x", payload: { bins: "y".repeat(9000) } }])
      assert.equal(fitting(given, 8000), given);
  });
  test("of long output the end stays, in letters that are whole", () => {
    for (const letter of ["x", "€", "😀", '"', "\n"]) {
      const cut = fitting(answer(`${letter.repeat(9000)}end`, letter.repeat(5000)), 8000);
      assert.ok(Buffer.byteLength(JSON.stringify(cut)) <= 8000, letter);
      assert.ok(cut.payload.stdout.endsWith("end") && cut.payload.stdout.isWellFormed());
      assert.equal("truncated" in cut.payload, true);
    }
  });
});

describe("a yes", () => {
  const plan = (command: string): Plan => ({
    command,
    form: "pipeline",
    segments: [],
    cwd: { path: "/", real: "/", device: "1", inode: "2" },
    files: [],
    env: {},
    path: [],
    host: "node",
    agent: "main",
    session: "s",
  });
  test("is spent once", () => {
    const consents = createConsents();
    consents.spend("a");
    assert.throws(() => consents.spend("a"), { code: "node-host.denied" });
    consents.spend("b");
  });
  test("is for what was there when it was asked for", () => {
    const consents = createConsents();
    consents.freeze("r", plan("ls"));
    assert.throws(() => consents.compare("r", plan("rm")), { code: "approval.changed" });
    consents.freeze("r", plan("ls"));
    consents.compare("r", plan("ls"));
    consents.compare("never asked here", plan("ls"));
  });
});
