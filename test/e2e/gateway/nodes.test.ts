// Nodes through the front door: who is listed, who is asked, who may answer, and which reports are believed.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";

import {
  detailsOf,
  dispose,
  newIdentity,
  operator,
  startGateway,
  type TestGateway,
  type Wire,
} from "../../harness/gateway.ts";
import { hostCommands, ranFine, scriptedNode, type ScriptedNode } from "../../harness/node.ts";

let gateway: TestGateway;
let admin: Wire;
let node: ScriptedNode;
before(async () => {
  gateway = await startGateway({ config: { gateway: { nodes: { denyCommands: ["system.which"] } } } });
  admin = await operator(gateway);
  node = await scriptedNode(gateway, { name: "Lab Mini" });
});
after(async () => {
  node.end();
  admin.end();
  await dispose(gateway);
});

const invoke = (command: string, params?: unknown, extra: object = {}, wire: Wire = admin) =>
  wire.request("node.invoke", { nodeId: node.id, command, params, idempotencyKey: randomUUID(), ...extra });

const rows = async () => (await admin.call("node.list", {})).nodes;

describe("listing", () => {
  test("a connected node is listed with what it offers", async () => {
    const [row] = await rows();
    assert.ok(row !== undefined);
    const { connectedAtMs, ...rest } = row;
    assert.equal(typeof connectedAtMs, "number");
    assert.deepEqual(rest, {
      nodeId: node.id,
      displayName: "Lab Mini",
      platform: "linux",
      version: "2026.2.9",
      pathEnv: "/usr/bin:/bin",
      caps: ["system"],
      commands: hostCommands.toSorted(),
      paired: true,
      connected: true,
    });
  });

  test("one can be described; an unknown one is an error", async () => {
    const described = await admin.call("node.describe", { nodeId: node.id });
    const { ts, ...row } = described;
    assert.equal(typeof ts, "number");
    assert.deepEqual(row, (await rows())[0]);
    const unknown = await admin.request("node.describe", { nodeId: "nobody" });
    assert.deepEqual(unknown.error, { code: "INVALID_REQUEST", message: "unknown nodeId" });
  });

  test("the owner's name for it persists when it reconnects", async () => {
    const identity = newIdentity();
    const other = await scriptedNode(gateway, { identity, name: "before" });
    const renamed = await admin.request("node.rename", { nodeId: identity.id, displayName: "Kitchen" });
    assert.deepEqual(renamed.payload, { nodeId: identity.id, displayName: "Kitchen" });
    other.end();
    const again = await scriptedNode(gateway, { identity, name: "before" });
    assert.equal((await rows()).find(({ nodeId }) => nodeId === identity.id)?.["displayName"], "Kitchen");
    again.end();
    const unknown = await admin.request("node.rename", { nodeId: "nobody", displayName: "x" });
    assert.equal(unknown.error?.message, "unknown nodeId");
  });

  test("a disconnected node stays listed without commands", async () => {
    const identity = newIdentity();
    const other = await scriptedNode(gateway, { identity, name: "short" });
    other.end();
    await other.wire.closed;
    const row = await until(async () => (await rows()).find((one) => one.nodeId === identity.id && !one.connected));
    assert.deepEqual(row, {
      nodeId: identity.id,
      displayName: "short",
      platform: "linux",
      caps: [],
      commands: [],
      paired: true,
      connected: false,
    });
  });
});

describe("invoking", () => {
  test("a request reaches the node as recorded, and its answer reaches the caller", async () => {
    node.script(() => ({ payload: { bins: {} } }));
    const key = randomUUID();
    const answer = await admin.request("node.invoke", {
      nodeId: node.id,
      command: "system.run",
      params: { command: ["true"], runId: "r1" },
      timeoutMs: 5000,
      idempotencyKey: key,
    });
    assert.deepEqual(answer.payload, {
      ok: true,
      nodeId: node.id,
      command: "system.run",
      payload: { bins: {} },
      payloadJSON: '{"bins":{}}',
    });
    const { id, ...asked } = node.asked.at(-1) ?? assert.fail("nothing was asked");
    assert.equal(typeof id, "string");
    assert.deepEqual(asked, {
      nodeId: node.id,
      command: "system.run",
      params: { command: ["true"], runId: "r1", approved: false },
      timeoutMs: 5000,
      idempotencyKey: key,
    });
    const event = node.wire.frames.find((frame) => frame.event === "node.invoke.request");
    assert.equal(event?.seq, undefined, "an event for one node alone has no sequence");
  });

  test("the same key is sent only once", async () => {
    node.script(() => ranFine("once\n"));
    const key = { idempotencyKey: randomUUID() };
    const before = node.asked.length;
    const first = await invoke("system.run", { command: ["true"] }, key);
    const second = await invoke("system.run", { command: ["true"] }, key);
    assert.deepEqual(second.payload, first.payload);
    assert.equal(node.asked.length, before + 1);
  });

  test("an error of the node is passed on", async () => {
    node.script(() => ({ error: { code: "UNAVAILABLE", message: "SYSTEM_RUN_DENIED: approval required" } }));
    const refused = await invoke("system.run", { command: ["true"] });
    assert.equal(refused.error?.code, "UNAVAILABLE");
    assert.equal(refused.error?.message, "SYSTEM_RUN_DENIED: approval required");
    assert.deepEqual(detailsOf(refused)["nodeError"], {
      code: "UNAVAILABLE",
      message: "SYSTEM_RUN_DENIED: approval required",
    });
  });

  test("a missing answer ends at the deadline, and a late answer is ignored", async () => {
    node.script(() => "silent");
    const { error } = await invoke("system.run", { command: ["true"] }, { timeoutMs: 100 });
    assert.equal(error?.code, "UNAVAILABLE");
    assert.equal(error?.message, "node invoke timed out");
    const slot = await node.wire.request("node.invoke.result", {
      id: node.asked.at(-1)?.id,
      nodeId: node.id,
      ok: true,
      payloadJSON: "{}",
    });
    assert.deepEqual(slot.payload, { ok: true, ignored: true });
  });

  test("a node that disconnects fails its pending requests immediately", async () => {
    const leaving = await scriptedNode(gateway, { name: "leaving" });
    leaving.script(() => {
      leaving.end();
      return "silent";
    });
    const failed = await invoke("system.run", { command: ["true"] }, { nodeId: leaving.id });
    assert.equal(failed.error?.code, "UNAVAILABLE");
    assert.equal(failed.error?.message, "node not connected");
    assert.equal(detailsOf(failed)["code"], "NOT_CONNECTED");
  });

  test("rejects a node that is not connected", async () => {
    const { error } = await invoke("system.run", { command: ["true"] }, { nodeId: "0".repeat(64) });
    assert.equal(error?.message, "node not connected");
  });

  test("another node cannot answer for it", async () => {
    const thief = await scriptedNode(gateway, { name: "thief" });
    node.script(async ({ id }) => {
      const forged = await thief.wire.request("node.invoke.result", {
        id,
        nodeId: node.id,
        ok: true,
        payloadJSON: '{"stdout":"forged"}',
      });
      assert.deepEqual(forged.payload, { ok: true, ignored: true });
      return ranFine("mine\n");
    });
    const { payload } = await invoke("system.run", { command: ["true"] });
    assert.equal((payload as { payload: { stdout: string } }).payload.stdout, "mine\n");
    thief.end();
  });

  test("an answer that is not JSON is an error, not a crash", async () => {
    node.script(({ id }) => {
      void node.wire.request("node.invoke.result", { id, nodeId: node.id, ok: true, payloadJSON: "{" });
      return "silent";
    });
    const { error } = await invoke("system.run", { command: ["true"] });
    assert.equal(error?.message, "the answer of the node is not valid JSON");
  });

  test("only sends commands that a node offers", async () => {
    const before = node.asked.length;
    const { error } = await invoke("canvas.eval", { javaScript: "1" });
    assert.equal(error?.message, "node command not allowed");
    assert.equal(node.asked.length, before);
  });

  test("rejects text that differs from the command, since node hosts compare it with their allowlist", async () => {
    node.script(() => ranFine(""));
    const before = node.asked.length;
    for (const [command, rawCommand] of [
      [["/bin/sh", "-lc", "id"], "uname"],
      [["/bin/sh", "-c", "id"], "id"],
      [["id"], "uname"],
      [["sh", "-lc", "id"], "id"],
      [["uname", "-a b"], "uname -a b"],
      ["uname", "uname"],
    ] as const) {
      const refused = await invoke("system.run", { command, rawCommand });
      assert.equal(detailsOf(refused)["code"], "node.other-text", JSON.stringify(command));
    }
    assert.equal(node.asked.length, before);
    assert.equal((await invoke("system.run", { command: ["/bin/sh", "-lc", "a; b"], rawCommand: "a; b" })).ok, true);
    assert.equal((await invoke("system.run", { command: ["uname", "-a"], rawCommand: "uname -a" })).ok, true);
  });

  test("camera, screen and messages need the owner's list; a denied command is denied", async () => {
    const mac = await scriptedNode(gateway, { name: "mac", commands: ["camera.snap", "system.which"] });
    mac.script(() => ({ payload: {} }));
    for (const command of ["camera.snap", "system.which"]) {
      const { error } = await invoke(command, {}, { nodeId: mac.id });
      assert.equal(error?.message, "node command not allowed", command);
    }
    assert.deepEqual(mac.asked, []);
    mac.end();
  });

  test("operator.write is enough to invoke, operator.read is not", async () => {
    const reader = await operator(gateway, { scopes: ["operator.read"] });
    const refused = await invoke("system.run", {}, {}, reader);
    assert.equal(refused.error?.message, "missing scope: operator.write");
    reader.end();
    const writer = await operator(gateway, { scopes: ["operator.write"] });
    node.script(() => ranFine(""));
    assert.equal((await invoke("system.run", { command: ["true"] }, {}, writer)).ok, true);
    writer.end();
  });
});

describe("a claimed approval", () => {
  const ask = (params: object) =>
    admin.request("exec.approval.request", { command: "echo hi", host: "node", agentId: "main", ...params });
  /** Asks, answers from another client, and waits until the asker has heard it. */
  async function approved(params: object, decision = "allow-once"): Promise<void> {
    const id = randomUUID();
    const heard = ask({ id, ...params });
    const person = await operator(gateway);
    await until(async () => (await person.request("exec.approval.resolve", { id, decision })).ok === true || undefined);
    await heard;
    person.end();
  }
  const run = (params: object = {}, wire: Wire = admin) =>
    invoke("system.run", { command: ["echo", "hi"], agentId: "main", approved: true, ...params }, {}, wire);
  const refusedRun = async (params: object = {}): Promise<void> => {
    const before = node.asked.length;
    const refused = await run(params);
    assert.equal(detailsOf(refused)["code"], "node.not-approved");
    assert.equal(node.asked.length, before, "nothing reached the node");
  };

  test("without an approval it reaches no node", async () => {
    await refusedRun();
    await refusedRun({ approvalDecision: "allow-always" });
    await refusedRun({ approved: undefined, approvalDecision: "allow-once" });
  });

  test("with an approval for exactly this it runs once", async () => {
    node.script(() => ranFine("hi\n"));
    await approved({});
    assert.equal((await run({ approvalDecision: "allow-always" })).ok, true);
    const { runId, plan, ...params } = node.asked.at(-1)?.params ?? {};
    assert.equal(typeof runId, "string");
    assert.deepEqual(params, {
      command: ["echo", "hi"],
      agentId: "main",
      approved: true,
      approvalDecision: "allow-once",
    });
    const { approvalId, ...planned } = plan as Record<string, unknown>;
    assert.equal(typeof approvalId, "string");
    assert.deepEqual(planned, { nodeId: node.id, argv: ["echo", "hi"], agentId: "main" });
    await refusedRun();
  });

  test("accepts one of two concurrent requests that use the same approval", async () => {
    node.script(() => ranFine("hi\n"));
    await approved({});
    const answers = await Promise.all([run(), run(), run()]);
    assert.equal(answers.filter(({ ok }) => ok === true).length, 1);
  });

  test("a denial is final", async () => {
    await approved({}, "deny");
    await refusedRun();
  });

  test("an approval does not cover another command", async () => {
    await approved({ cwd: "/srv" });
    await refusedRun();
    await refusedRun({ cwd: "/srv", command: ["echo", "ho"] });
    await refusedRun({ cwd: "/srv", agentId: "other" });
    await refusedRun({ cwd: "/srv", env: { PATH: "/evil" } });
    await refusedRun({ cwd: "/srv", sessionKey: "agent:main:main" });
    node.script(() => ranFine(""));
    assert.equal((await run({ cwd: "/srv" })).ok, true);
  });

  test("an approval for the gateway host does not cover a node", async () => {
    await approved({ host: "gateway" });
    await refusedRun();
  });

  test("a plan cannot be made up", async () => {
    node.script(() => ranFine(""));
    await invoke("system.run", { command: ["echo", "hi"], plan: { approvalId: "x" } });
    assert.equal(Object.hasOwn(node.asked.at(-1)?.params ?? {}, "plan"), false);
  });
});

describe("the node's approvals file", () => {
  test("APR-035 cannot be reached through node.invoke, in any spelling", async () => {
    const before = node.asked.length;
    for (const command of [
      "system.execApprovals.set",
      "system.execApprovals.get",
      "SYSTEM.EXECAPPROVALS.SET",
      " system.execApprovals.set ",
    ]) {
      const { error } = await invoke(command, { file: { version: 1, defaults: { security: "full", ask: "off" } } });
      assert.equal(error?.message, "node command not allowed", command);
      assert.partialDeepStrictEqual(error?.details, { hint: `openclaw approvals get --node ${node.id}` });
    }
    assert.equal(node.asked.length, before);
  });

  test("the owner reads and writes it through its own methods", async () => {
    const snapshot = { path: "/n/exec-approvals.json", exists: true, hash: "h", file: { version: 1, agents: {} } };
    node.script(() => ({ payload: snapshot }));
    const got = await admin.request("exec.approvals.node.get", { nodeId: node.id });
    assert.deepEqual(got.payload, snapshot);
    const file = { version: 1, defaults: { security: "deny" } };
    const set = await admin.request("exec.approvals.node.set", { nodeId: node.id, file, baseHash: "h" });
    assert.deepEqual(set.payload, snapshot);
    assert.deepEqual(
      node.asked.slice(-2).map(({ command, params }) => [command, params]),
      [
        ["system.execApprovals.get", {}],
        ["system.execApprovals.set", { file, baseHash: "h" }],
      ],
    );
  });

  test("requires operator.admin", async () => {
    const writer = await operator(gateway, { scopes: ["operator.write", "operator.read"] });
    for (const method of ["exec.approvals.node.get", "exec.approvals.node.set"]) {
      const { error } = await writer.request(method, { nodeId: node.id, file: { version: 1 } });
      assert.equal(error?.message, "missing scope: operator.admin");
    }
    writer.end();
  });
});

describe("reports of runs", () => {
  const finished = (runId: string) => ({
    sessionKey: "agent:main:main",
    runId,
    host: "node",
    command: "true",
    exitCode: 0,
    timedOut: false,
    success: true,
    output: "",
  });

  test("NOD-003 a node cannot report a run that was not assigned to it", async () => {
    const refused = await node.report("exec.finished", finished(randomUUID()));
    assert.equal(refused.error?.code, "INVALID_REQUEST");
    assert.equal(detailsOf(refused)["code"], "node.unknown-run");
  });

  test("a node cannot report a run that was assigned to another node", async () => {
    const other = await scriptedNode(gateway, { name: "other" });
    node.script(() => ranFine(""));
    const runId = randomUUID();
    await invoke("system.run", { command: ["true"], runId });
    const refused = await other.report("exec.finished", finished(runId));
    assert.equal(detailsOf(refused)["code"], "node.unknown-run");
    other.end();
  });

  test("can report its own run once", async () => {
    node.script(() => ranFine(""));
    const runId = randomUUID();
    await invoke("system.run", { command: ["true"], runId });
    assert.deepEqual((await node.report("exec.finished", finished(runId))).payload, { ok: true });
    const refused = await node.report("exec.finished", finished(runId));
    assert.equal(detailsOf(refused)["code"], "node.unknown-run");
  });

  test("a run without an id gets one, so that it can be reported", async () => {
    node.script(() => ranFine(""));
    await invoke("system.run", { command: ["true"] });
    const runId = String(node.asked.at(-1)?.params?.["runId"]);
    assert.match(runId, /^[0-9a-f-]{36}$/);
    assert.deepEqual((await node.report("exec.denied", { ...finished(runId), reason: "x" })).payload, { ok: true });
  });

  test("rejects malformed payloads", async () => {
    const { error } = await node.wire.request("node.event", { event: "exec.finished", payloadJSON: "{" });
    assert.equal(error?.code, "INVALID_REQUEST");
  });

  test("operators and nodes keep to their own methods", async () => {
    for (const [method, params] of [
      ["node.event", { event: "x" }],
      ["node.invoke.result", { id: "a", nodeId: "b", ok: true }],
    ] as const) {
      assert.equal((await admin.request(method, params)).error?.message, "unauthorized role: operator");
    }
    for (const method of ["node.invoke", "node.list", "exec.approvals.node.set", "node.rename"]) {
      assert.equal((await node.wire.request(method, {})).error?.message, "unauthorized role: node");
    }
  });
});

async function until<T>(look: () => Promise<T | undefined>, timeoutMs = 60_000): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) assert.fail("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
