// host=node against a real gateway: choosing a node, the request, its own rules, approvals and every refusal.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";

import { exec, until, type Called } from "../../harness/exec.ts";
import { dispose, newIdentity, operator, startGateway, type TestGateway, type Wire } from "../../harness/gateway.ts";
import { ranFine, scriptedNode, type Asked, type NodeReply, type ScriptedNode } from "../../harness/node.ts";

const opened: ScriptedNode[] = [];
const gateways = new Set<TestGateway>();
async function nodeIn(gateway: TestGateway, plan: Parameters<typeof scriptedNode>[1] = {}): Promise<ScriptedNode> {
  const node = await scriptedNode(gateway, plan);
  opened.push(node);
  gateways.add(gateway);
  return node;
}
afterEach(async () => {
  for (const node of opened.splice(0)) {
    node.end();
    await node.wire.closed;
  }
  // A command goes to the only node there is, so the next test begins without any.
  for (const gateway of gateways) await withoutNodes(gateway);
  gateways.clear();
});

async function withoutNodes(gateway: TestGateway): Promise<void> {
  const wire = await operator(gateway);
  await until(
    async () => await wire.call("node.list", {}),
    ({ nodes }) => nodes.every(({ connected }) => !connected),
  );
  wire.end();
}

/** Answers for the approvals file, and for runs what the test says. */
const host =
  (run: (asked: Asked) => NodeReply | Promise<NodeReply>, file: object = {}) =>
  (asked: Asked): NodeReply | Promise<NodeReply> =>
    asked.command === "system.execApprovals.get"
      ? { payload: { path: "/n", exists: true, hash: "h", file: { version: 1, ...file } } }
      : run(asked);
/** What the node wrote, without the marks a model sees. */
const saidBy = ({ details }: Called): string => String(details["aggregated"]).trim();
const runsOf = (node: ScriptedNode): Asked[] => node.asked.filter(({ command }) => command === "system.run");
const refuses = (why: string): NodeReply => ({ error: { code: "UNAVAILABLE", message: why } });

describe("host=node", () => {
  let gateway: TestGateway;
  let admin: Wire;
  before(async () => {
    gateway = await startGateway({ config: { tools: { exec: { host: "node" } } } });
    admin = await operator(gateway);
  });
  after(async () => {
    admin.end();
    await dispose(gateway);
  });

  test("without a paired node the error says that a companion app or a node host is needed", async () => {
    const { error } = await exec(gateway, { command: "uname" });
    assert.equal(error?.details?.["code"], "exec.no-node");
    assert.match(error?.message ?? "", /companion app or node host/);
  });

  test("the node gets a login shell line, and its answer is the result", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => ranFine("Linux\n")));
    const { text, details } = await exec(gateway, {
      command: "uname -s | cat",
      workdir: "/srv",
      env: { A: "b" },
      timeout: 60,
    });
    assert.match(text, /^<outside (\w+) source="node test-node">\nLinux\n<\/outside \1>$/);
    const { durationMs, ...rest } = details;
    assert.equal(typeof durationMs, "number");
    assert.deepEqual(rest, { status: "completed", exitCode: 0, aggregated: "Linux\n", cwd: "/srv" });
    const { runId, ...params } = runsOf(node)[0]?.params ?? {};
    assert.equal(typeof runId, "string");
    assert.deepEqual(params, {
      command: ["/bin/sh", "-lc", "uname -s | cat"],
      rawCommand: "uname -s | cat",
      cwd: "/srv",
      env: { A: "b" },
      timeoutMs: 60_000,
      agentId: "main",
      sessionKey: "agent:main:main",
      approved: false,
    });
  });

  test("a Windows node gets cmd.exe", async () => {
    const node = await nodeIn(gateway, { platform: "windows" });
    node.script(host(() => ranFine("ok\r\n")));
    assert.equal(saidBy(await exec(gateway, { command: "dir" })), "ok");
    assert.deepEqual(runsOf(node)[0]?.params?.["command"], ["cmd.exe", "/d", "/s", "/c", "dir"]);
  });

  test("sends only what the call names, without the environment or the folder of the gateway", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => ranFine("")));
    const { details } = await exec(gateway, { command: "true" });
    const params = runsOf(node)[0]?.params ?? {};
    assert.deepEqual([Object.hasOwn(params, "env"), Object.hasOwn(params, "cwd")], [false, false]);
    assert.equal("cwd" in details, false, "where it ran is the node's to know");
  });

  test("pty and background are ignored on a node with a warning, and the command runs until it ends", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => ranFine("done\n")));
    const { text, details } = await exec(gateway, { command: "true", pty: true, background: true });
    assert.match(text, /^pty was ignored: nodes do not support terminals\.\nbackground and yieldMs were ignored/);
    assert.equal(details["status"], "completed");
  });

  test("reports a failed command as failed", async () => {
    const node = await nodeIn(gateway);
    node.script(
      host(() => ({
        payload: { exitCode: 3, timedOut: false, success: false, stdout: "out\n", stderr: "err\n", error: null },
      })),
    );
    const { status, text, details } = await exec(gateway, { command: "x; exit 3" });
    assert.deepEqual([status, details["status"], details["exitCode"]], [200, "failed", 3]);
    assert.match(text, /^<outside (\w+) [^>]+>\nout\nerr\n<\/outside \1>\n\n\[exit code 3\]$/);
  });

  for (const name of ["PATH", "path", "LD_PRELOAD", "ld_preload", "DYLD_X"])
    test(`env: ${name} is refused before a request reaches the node`, async () => {
      const node = await nodeIn(gateway);
      const { error } = await exec(gateway, { command: "true", env: { [name]: "/x" } });
      assert.deepEqual([error?.details?.["code"], node.asked.length], ["exec.rejected-variable", 0]);
    });

  test("pty and background have no effect there, with a warning", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => ranFine("done\n")));
    const { text, details } = await exec(gateway, { command: "true", pty: true, background: true });
    assert.equal(details["status"], "completed");
    assert.match(text, /pty was ignored[^]*background and yieldMs were ignored[^]*done/);
  });

  test("a call cannot leave the node for the gateway, or name another host", async () => {
    await nodeIn(gateway);
    for (const other of ["gateway", "sandbox"]) {
      const { error } = await exec(gateway, { command: "true", host: other });
      assert.equal(error?.details?.["code"], "exec.host-mismatch");
      assert.match(error?.message ?? "", new RegExp(`host=${other}[^]*tools\\.exec\\.host=node`));
    }
  });

  test("one of several must be chosen, by name or by a prefix of its id", async () => {
    const identity = newIdentity();
    const [lab, den] = [await nodeIn(gateway, { name: "lab", identity }), await nodeIn(gateway, { name: "My Den" })];
    for (const node of [lab, den]) node.script(host(() => ranFine(`${node.id}\n`)));
    const { error } = await exec(gateway, { command: "true" });
    assert.equal(error?.details?.["code"], "exec.node-ambiguous");
    assert.equal(saidBy(await exec(gateway, { command: "true", node: "my-den" })), den.id);
    assert.equal(saidBy(await exec(gateway, { command: "true", node: identity.id.slice(0, 10) })), lab.id);
    assert.equal(
      (await exec(gateway, { command: "true", node: "nobody" })).error?.details?.["code"],
      "exec.node-unknown",
    );
  });

  test("rejects a node that does not offer system.run", async () => {
    await nodeIn(gateway, { name: "phone", commands: ["camera.list"] });
    assert.equal((await exec(gateway, { command: "true" })).error?.details?.["code"], "exec.no-node");
    assert.equal(
      (await exec(gateway, { command: "true", node: "phone" })).error?.details?.["code"],
      "exec.node-cannot-run",
    );
  });

  test("a node that disconnects during a run: the result says that the outcome is unknown", async () => {
    const node = await nodeIn(gateway);
    node.script(
      host(() => {
        node.end();
        return "silent";
      }),
    );
    const { error } = await exec(gateway, { command: "true" });
    assert.equal(error?.details?.["code"], "exec.node-away");
    assert.match(error?.message ?? "", /not known/);
  });

  test("the node requires approval: the call waits for the owner, then exactly that command runs once", async () => {
    const node = await nodeIn(gateway);
    node.script(
      host(({ params }) =>
        params?.["approved"] === true ? ranFine("now\n") : refuses("SYSTEM_RUN_DENIED: approval required"),
      ),
    );
    const { details } = await exec(gateway, { command: "reboot", workdir: "/srv" });
    const { approvalId, expiresAtMs, approvalSlug, ...rest } = details;
    const id = String(approvalId);
    assert.deepEqual([typeof expiresAtMs, approvalSlug], ["number", id.slice(0, 8)]);
    assert.deepEqual(rest, {
      status: "approval-pending",
      host: "node",
      command: "reboot",
      cwd: "/srv",
      nodeId: node.id,
    });
    assert.equal(runsOf(node).length, 1);
    const answer = await admin.request("exec.approval.resolve", { id, decision: "allow-once" });
    assert.equal(answer.ok, true);
    const [, second] = await until(
      () => runsOf(node),
      (runs) => runs.length === 2,
    );
    assert.deepEqual(second?.params, {
      command: ["/bin/sh", "-lc", "reboot"],
      rawCommand: "reboot",
      cwd: "/srv",
      timeoutMs: 1_800_000,
      agentId: "main",
      sessionKey: "agent:main:main",
      runId: id,
      approved: true,
      approvalDecision: "allow-once",
      plan: {
        nodeId: node.id,
        argv: ["/bin/sh", "-lc", "reboot"],
        cwd: "/srv",
        agentId: "main",
        sessionKey: "agent:main:main",
        approvalId: id,
      },
    });
    const again = await admin.request("exec.approval.resolve", { id, decision: "allow-once" });
    assert.equal(again.ok, false);
  });

  test("after a denial the node is not asked again", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => refuses("SYSTEM_RUN_DENIED: allowlist miss")));
    const { details } = await exec(gateway, { command: "reboot" });
    assert.equal(details["status"], "approval-pending");
    await admin.request("exec.approval.resolve", { id: details["approvalId"], decision: "deny" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(runsOf(node).length, 1);
  });

  test("an approval of the gateway's own request cannot be used through node.invoke", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => refuses("SYSTEM_RUN_DENIED: approval required")));
    const { details } = await exec(gateway, { command: "reboot" });
    const before = runsOf(node).length;
    const stolen = await admin.request("node.invoke", {
      nodeId: node.id,
      command: "system.run",
      params: {
        command: ["/bin/sh", "-lc", "reboot"],
        agentId: "main",
        sessionKey: "agent:main:main",
        runId: details["approvalId"],
        approved: true,
        approvalDecision: "allow-once",
      },
      idempotencyKey: "stolen",
    });
    assert.equal(stolen.ok, false);
    assert.equal(runsOf(node).length, before);
    await admin.request("exec.approval.resolve", { id: details["approvalId"], decision: "deny" });
  });

  test("the node's own deny applies without a run and without a question", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => ranFine(""), { defaults: { security: "deny" } }));
    const { error } = await exec(gateway, { command: "true" });
    assert.equal(error?.details?.["code"], "exec.denied");
    assert.equal(runsOf(node).length, 0);
  });

  test("a node that allows everything is still bound by our allowlist: approval first", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => ranFine("ran\n"), { defaults: { security: "full", ask: "off" } }));
    const { details } = await exec(gateway, { command: "true" });
    assert.equal(details["status"], "approval-pending");
    assert.equal(runsOf(node).length, 0);
    await admin.request("exec.approval.resolve", { id: details["approvalId"], decision: "deny" });
  });

  test("ask=always of the call: approval first", async () => {
    const node = await nodeIn(gateway);
    node.script(host(() => ranFine("ran\n")));
    const { details } = await exec(gateway, { command: "true", ask: "always" });
    assert.equal(details["status"], "approval-pending");
    assert.equal(runsOf(node).length, 0);
    await admin.request("exec.approval.resolve", { id: details["approvalId"], decision: "deny" });
  });

  test("a made-up answer of another node has no effect", async () => {
    const [node, thief] = [await nodeIn(gateway, { name: "mine" }), await nodeIn(gateway, { name: "thief" })];
    node.script(
      host(async ({ id }) => {
        await thief.wire.request("node.invoke.result", {
          id,
          nodeId: node.id,
          ok: true,
          payload: { exitCode: 0, stdout: "forged" },
        });
        return ranFine("real\n");
      }),
    );
    assert.equal(saidBy(await exec(gateway, { command: "true", node: "mine" })), "real");
  });
});

describe("host=node, bound and without questions", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({
      config: {
        tools: { exec: { host: "node", node: "lab", security: "full", ask: "off" } },
        agents: {
          list: [
            { id: "main", default: true },
            { id: "strict", tools: { exec: { node: "den", security: "allowlist" } } },
            { id: "closed", tools: { exec: { security: "deny" } } },
          ],
        },
      },
    });
  });
  after(() => dispose(gateway));
  const identity = newIdentity();
  const lab = () => nodeIn(gateway, { name: "lab", identity });
  const as = (agent: string) => ({ body: { sessionKey: `agent:${agent}:main` } });

  test("tools.exec.node binds, and agents.list[].tools.exec.node binds one agent", async () => {
    const [here, den] = [await lab(), await nodeIn(gateway, { name: "den" })];
    for (const node of [here, den]) node.script(host(() => ranFine(`${node.id}\n`)));
    assert.equal(saidBy(await exec(gateway, { command: "true" })), here.id);
    assert.equal(saidBy(await exec(gateway, { command: "true" }, as("strict"))), den.id);
    assert.equal(saidBy(await exec(gateway, { command: "true", node: here.id })), here.id);
    const { error } = await exec(gateway, { command: "true", node: "den" });
    assert.equal(error?.details?.["code"], "exec.node-bound");
  });

  test("sends an approval to a node without rules when the gateway has security=full and ask=off", async () => {
    const node = await lab();
    node.script(host(() => ranFine("")));
    await exec(gateway, { command: "true" });
    assert.deepEqual(
      [runsOf(node)[0]?.params?.["approved"], runsOf(node)[0]?.params?.["approvalDecision"]],
      [true, "allow-once"],
    );
  });

  test("full and off here, an allowlist there: the node decides", async () => {
    const node = await lab();
    node.script(
      host(() => refuses("SYSTEM_RUN_DENIED: allowlist miss"), { defaults: { security: "allowlist", ask: "off" } }),
    );
    const { error } = await exec(gateway, { command: "true" });
    assert.equal(error?.details?.["code"], "exec.denied");
    assert.match(error?.message ?? "", /SYSTEM_RUN_DENIED: allowlist miss/);
    assert.equal(runsOf(node)[0]?.params?.["approved"], false);
  });

  test("security=deny of an agent", async () => {
    const node = await lab();
    const { error } = await exec(gateway, { command: "true" }, as("closed"));
    assert.equal(error?.details?.["code"], "exec.denied");
    assert.match(error?.message ?? "", /host=node[^]*security=deny/);
    assert.deepEqual(node.asked, []);
  });
});
