// Commands on a node: which node is chosen, what is sent, what the answer means, and every way to fail.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { ToolError } from "../core/error.ts";
import { nodeFailed, nodeTimedOut, notConnected, unknownNode } from "./node-error.ts";
import type { NodeFacts, NodePort } from "./node-port.ts";
import { createNodeRuns, shellArgv, type NodeConsent, type NodeJob, type NodeRequest } from "./node-command.ts";

const clock = { now: () => 1000, ticks: () => 0 };
const lab: NodeFacts = {
  nodeId: "aaaaaa1111",
  displayName: "lab",
  platform: "linux",
  connected: true,
  commands: ["system.run", "system.execApprovals.get"],
};
const den: NodeFacts = { ...lab, nodeId: "bbbbbb2222", displayName: "den" };

interface Sent {
  readonly nodeId: string;
  readonly command: string;
  readonly params: unknown;
}

/** A port over plain data that records requests and returns scripted answers. */
function portOf(nodes: readonly NodeFacts[], reply: (sent: Sent) => unknown): NodePort & { readonly sent: Sent[] } {
  const sent: Sent[] = [];
  return {
    sent,
    list: () => Promise.resolve(nodes),
    async resolve(reference) {
      const word = reference.toLowerCase();
      const found = nodes.find(({ nodeId, displayName }) => nodeId.startsWith(word) || displayName === word);
      if (found === undefined) throw unknownNode(reference, []);
      return found;
    },
    async invoke(nodeId, command, params) {
      const one = { nodeId, command, params };
      sent.push(one);
      const answer = command === "system.execApprovals.get" ? { file: { version: 1 } } : reply(one);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

const request = (more: Partial<NodeRequest> = {}): NodeRequest => ({
  route: { security: "allowlist", ask: "on-miss" },
  runId: "run-1",
  command: "uname -a",
  agent: "main",
  session: "agent:main:main",
  ...more,
});
const ran = (more: object = {}): unknown => ({
  exitCode: 0,
  timedOut: false,
  success: true,
  stdout: "Linux\n",
  stderr: "",
  error: null,
  ...more,
});

async function refusal(work: Promise<unknown>): Promise<ToolError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  return assert.fail("it was not refused");
}

describe("choosing a node", () => {
  const choose = (nodes: readonly NodeFacts[], route: Partial<NodeRequest["route"]> = {}) =>
    createNodeRuns({ port: portOf(nodes, () => ran()), clock }).prepare(
      request({ route: { security: "allowlist", ask: "on-miss", ...route } }),
    );
  const code = async (nodes: readonly NodeFacts[], route: Partial<NodeRequest["route"]> = {}): Promise<string> =>
    (await refusal(choose(nodes, route))).code;

  test("chooses the only one", async () => assert.equal((await choose([lab])).job.nodeId, lab.nodeId));
  test("chooses the only connected one that can run commands", async () => {
    const away = { ...den, connected: false, commands: [] };
    const phone = { ...den, nodeId: "cccccc3333", displayName: "phone", commands: ["camera.snap"] };
    assert.equal((await choose([away, phone, lab])).job.nodeId, lab.nodeId);
  });
  test("chooses the named one", async () =>
    assert.equal((await choose([lab, den], { node: "Den" })).job.nodeId, den.nodeId));
  test("accepts the bound one in another spelling", async () =>
    assert.equal((await choose([lab, den], { node: "bbbbbb", boundNode: "den" })).job.nodeId, den.nodeId));
  test("fails when none is paired", async () => {
    const { code: reason, message, hint } = await refusal(choose([]));
    assert.equal(reason, "exec.no-node");
    assert.match(message, /companion app or node host/);
    assert.notEqual(hint, undefined);
  });
  test("fails when none is connected", async () =>
    assert.equal(await code([{ ...lab, connected: false, commands: [] }]), "exec.no-node"));
  test("fails when none offers system.run", async () =>
    assert.equal(await code([{ ...lab, commands: [] }]), "exec.no-node"));
  test("fails when the named one does not offer system.run", async () =>
    assert.equal(await code([{ ...lab, commands: [] }, den], { node: "lab" }), "exec.node-cannot-run"));
  test("fails when the named one is disconnected", async () =>
    assert.equal(await code([{ ...lab, connected: false }, den], { node: "lab" }), "exec.node-away"));
  test("fails when several could and none was chosen", async () => {
    const error = await refusal(choose([lab, den]));
    assert.equal(error.code, "exec.node-ambiguous");
    assert.match(error.hint ?? "", /tools\.exec\.node/);
    assert.deepEqual(error.details, { refused: true, nodes: [lab.nodeId, den.nodeId] });
  });
  test("fails for an unknown one", async () => assert.equal(await code([lab], { node: "zzz" }), "exec.node-unknown"));
  test("fails for another than the bound one", async () => {
    const error = await refusal(choose([lab, den], { node: "lab", boundNode: "den" }));
    assert.equal(error.code, "exec.node-bound");
    assert.deepEqual(error.details, { refused: true, requested: lab.nodeId, bound: den.nodeId });
  });
});

describe("the request to the node", () => {
  test("uses the shell of the node's platform", () => {
    assert.deepEqual(shellArgv("a b", "linux"), ["/bin/sh", "-lc", "a b"]);
    assert.deepEqual(shellArgv("a b", "macos 26.1"), ["/bin/sh", "-lc", "a b"]);
    assert.deepEqual(shellArgv("a b", "Windows 11"), ["cmd.exe", "/d", "/s", "/c", "a b"]);
    assert.deepEqual(shellArgv("a b", "win32"), ["cmd.exe", "/d", "/s", "/c", "a b"]);
    assert.deepEqual(shellArgv("a b", "darwin"), ["/bin/sh", "-lc", "a b"]);
  });

  const sentFor = async (more: Partial<NodeRequest>, consent?: NodeConsent): Promise<unknown> => {
    const port = portOf([lab], () => ran());
    const runs = createNodeRuns({ port, clock });
    const { job } = await runs.prepare(request(more));
    await runs.run(job, consent);
    return port.sent.at(-1)?.params;
  };
  const plain = {
    command: ["/bin/sh", "-lc", "uname -a"],
    rawCommand: "uname -a",
    agentId: "main",
    sessionKey: "agent:main:main",
    runId: "run-1",
  };

  test("contains only what the call gave", async () =>
    assert.deepEqual(await sentFor({}), { ...plain, approved: false }));
  test("contains folder, variables and time limit", async () =>
    assert.deepEqual(await sentFor({ cwd: "/srv", env: { A: "b" }, timeoutMs: 5000 }), {
      ...plain,
      cwd: "/srv",
      env: { A: "b" },
      timeoutMs: 5000,
      approved: false,
    }));
  test("contains the plan with an approval", async () =>
    assert.deepEqual(await sentFor({ cwd: "/srv" }, { by: "person", decision: "allow-always" }), {
      ...plain,
      cwd: "/srv",
      approved: true,
      approvalDecision: "allow-always",
      plan: {
        nodeId: lab.nodeId,
        argv: ["/bin/sh", "-lc", "uname -a"],
        cwd: "/srv",
        agentId: "main",
        sessionKey: "agent:main:main",
        approvalId: "run-1",
      },
    }));
  test("allows once when the program must not be remembered", async () => {
    const sent = await sentFor({ command: "python3 x.py" }, { by: "person", decision: "allow-always" });
    assert.equal((sent as { approvalDecision: string }).approvalDecision, "allow-once");
  });
  test("is marked as allowed by policy when our rules are full and the node's file sets none", async () => {
    const prepared = await createNodeRuns({ port: portOf([lab], () => ran()), clock }).prepare(
      request({ route: { security: "full", ask: "off" } }),
    );
    assert.deepEqual([prepared.verdict, prepared.consent], ["run", { by: "policy" }]);
  });
  test("is not sent before approval with ask=always", async () => {
    const port = portOf([lab], () => ran());
    const prepared = await createNodeRuns({ port, clock }).prepare(
      request({ route: { security: "full", ask: "always" } }),
    );
    assert.equal(prepared.verdict, "ask");
    assert.deepEqual(
      port.sent.map(({ command }) => command),
      ["system.execApprovals.get"],
    );
  });
});

describe("the answer of the node", () => {
  const outcome = async (answer: unknown, consent?: NodeConsent, more: Partial<NodeRequest> = {}) => {
    const runs = createNodeRuns({ port: portOf([lab], () => answer), clock });
    const { job } = await runs.prepare(request(more));
    return runs.run(job, consent);
  };
  const finishedWith = async (answer: unknown) => {
    const result = await outcome(answer);
    return result.kind === "finished" ? result.finished : assert.fail(result.reason);
  };
  const denied = nodeFailed({ code: "UNAVAILABLE", message: "SYSTEM_RUN_DENIED: approval required" });

  test("contains output and exit code", async () =>
    assert.deepEqual(await finishedWith(ran({ exitCode: 3, success: false, stderr: "oh" })), {
      exit: { code: 3, endedAt: 1000 },
      aggregated: "Linux\noh\n",
      truncated: false,
      startedAt: 1000,
      timeoutMs: undefined,
      cwd: undefined,
    }));
  test("reports a time limit", async () =>
    assert.deepEqual((await finishedWith(ran({ exitCode: undefined, timedOut: true, success: false }))).exit, {
      code: null,
      reason: "timeout",
      endedAt: 1000,
    }));
  test("reports a command that could not start", async () => {
    const { exit, aggregated } = await finishedWith({ success: false, error: "spawn ENOENT" });
    assert.deepEqual([exit.code, aggregated], [null, "spawn ENOENT\n"]);
  });
  test("treats a malformed answer as a failure", async () =>
    assert.equal((await finishedWith("what?")).exit.code, null));
  test("removes terminal sequences", async () =>
    assert.equal((await finishedWith(ran({ stdout: "\u001b[31mred\u001b[0m\n" }))).aggregated, "red\n"));
  test("keeps the end of long output", async () => {
    const { aggregated, truncated } = await finishedWith(ran({ stdout: `${"x".repeat(300_000)}end\n` }));
    assert.ok(truncated && aggregated.endsWith("end\n") && aggregated.length === 200_000);
  });

  test("asks for approval when the node requires it", async () =>
    assert.deepEqual(await outcome(denied), { kind: "ask", reason: "approval-required" }));
  test("asks for approval when the node's allowlist does not match", async () => {
    const miss = nodeFailed({ message: "SYSTEM_RUN_DENIED: allowlist miss" });
    assert.deepEqual(await outcome(miss), { kind: "ask", reason: "allowlist-miss" });
  });
  test("is final with ask=off", async () => {
    const error = await refusal(outcome(denied, undefined, { route: { security: "allowlist", ask: "off" } }));
    assert.equal(error.code, "exec.denied");
    assert.match(error.message, /SYSTEM_RUN_DENIED: approval required/);
    assert.match(error.hint ?? "", /^openclaw approvals get --node \S/);
    assert.deepEqual(error.details, {
      refused: true,
      host: "node",
      nodeId: lab.nodeId,
      reason: "approval-required",
    });
  });
  test("is final when the node denies an approved command", async () =>
    assert.equal((await refusal(outcome(denied, { by: "person", decision: "allow-once" }))).code, "exec.denied"));
  test("is final when the node refuses for another reason", async () => {
    const error = await refusal(outcome(nodeFailed({ message: "SYSTEM_RUN_DISABLED: security=deny" })));
    assert.equal(error.code, "exec.denied");
    assert.match(error.message, /SYSTEM_RUN_DISABLED: security=deny/);
  });
  test("reports an unknown outcome when the node disconnects", async () => {
    const error = await refusal(outcome(notConnected(lab.nodeId)));
    assert.equal(error.code, "exec.node-away");
    assert.match(error.message, /not known/);
  });
  test("reports a command that may still be running when the node does not answer", async () => {
    const error = await refusal(outcome(nodeTimedOut()));
    assert.equal(error.code, "exec.node-silent");
    assert.match(error.message, /may still be running/);
  });
  test("passes on other failures without invisible characters", async () => {
    const error = await refusal(outcome(nodeFailed({ message: "bad\u202ething" })));
    assert.equal(error.code, "exec.node-failed");
    assert.match(error.message, /bad\\u\{202e\}thing/);
  });
});

test("stores the request as plain JSON: what is asked about is what is sent", async () => {
  const runs = createNodeRuns({ port: portOf([lab], () => ran()), clock });
  const { job } = await runs.prepare(request({ cwd: "/srv", env: { A: "b" }, timeoutMs: 5 }));
  const copy = JSON.parse(JSON.stringify(job)) as NodeJob;
  assert.deepEqual(copy, job);
  assert.deepEqual(job, {
    runId: "run-1",
    nodeId: lab.nodeId,
    nodeName: "lab",
    platform: "linux",
    command: "uname -a",
    argv: ["/bin/sh", "-lc", "uname -a"],
    cwd: "/srv",
    env: { A: "b" },
    timeoutMs: 5,
    agent: "main",
    session: "agent:main:main",
    ask: "on-miss",
  });
});
