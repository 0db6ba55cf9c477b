// Parsing `system.run` on a node: shapes, matching text, and approvals that need a plan for exactly this command.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { parseRun, quoteArgv } from "./run-request.ts";

const nodeId = "n1";
const base = { command: ["echo", "hi"], cwd: "/srv", agentId: "main", sessionKey: "agent:main:main", runId: "r1" };
const plan = {
  nodeId,
  argv: ["echo", "hi"],
  cwd: "/srv",
  agentId: "main",
  sessionKey: "agent:main:main",
  approvalId: "a1",
};

describe("a request", () => {
  test("reads arguments, folder, agent and session", () => {
    assert.deepEqual(parseRun({ ...base, approved: false, approvalDecision: null, env: null }, nodeId), {
      argv: ["echo", "hi"],
      script: undefined,
      text: "'echo' 'hi'",
      cwd: "/srv",
      env: {},
      timeoutMs: undefined,
      agent: "main",
      session: "agent:main:main",
      runId: "r1",
      consent: undefined,
    });
  });
  test("recognizes a shell line; without an agent uses the rules for all", () => {
    const { script, text, agent, session } = parseRun(
      { command: ["/bin/sh", "-lc", "a | b"], rawCommand: "a | b" },
      nodeId,
    );
    assert.deepEqual([script, text, agent, session], ["a | b", "a | b", "*", undefined]);
  });
  for (const [what, params] of [
    ["nothing", undefined],
    ["no command", {}],
    ["a string instead of arguments", { command: "ls" }],
    ["no words", { command: [] }],
    ["an empty program", { command: [""] }],
    ["a number among the arguments", { command: ["ls", 1] }],
    ["a NUL", { command: ["ls", "a\0b"] }],
    ["half a character", { command: ["ls", "\ud800"] }],
    ["a variable that is not a string", { command: ["ls"], env: { A: 1 } }],
    ["a negative time limit", { command: ["ls"], timeoutMs: -1 }],
  ] as const)
    test(`${what} is refused`, () => {
      assert.throws(() => parseRun(params, nodeId), { code: "wire.invalid-request" });
    });
  test("rejects text that differs from the command", () => {
    assert.throws(() => parseRun({ ...base, rawCommand: "rm x" }, nodeId), { code: "node.other-text" });
  });
});

describe("an approval", () => {
  const approved = { ...base, approved: true, approvalDecision: "allow-always" };
  test("is accepted with its plan", () => {
    assert.deepEqual(parseRun({ ...approved, plan }, nodeId).consent, { approvalId: "a1", always: true });
    const once = parseRun({ ...approved, approvalDecision: "allow-once", plan }, nodeId);
    assert.deepEqual(once.consent, { approvalId: "a1", always: false });
  });
  test("is rejected without a plan", () => {
    for (const none of [undefined, null])
      assert.throws(() => parseRun({ ...approved, plan: none }, nodeId), { code: "node-host.unplanned" });
  });
  for (const [what, change] of [
    ["another node", { nodeId: "n2" }],
    ["other words", { argv: ["echo", "ho"] }],
    ["another folder", { cwd: "/" }],
    ["no folder", { cwd: undefined }],
    ["more variables", { env: { A: "b" } }],
    ["another agent", { agentId: "other" }],
    ["another session", { sessionKey: "agent:main:x" }],
  ] as const)
    test(`rejects a plan for ${what}`, () => {
      assert.throws(() => parseRun({ ...approved, plan: { ...plan, ...change } }, nodeId), {
        code: "node-host.unplanned",
      });
    });
});

test("quoted arguments stay single words", () => {
  assert.equal(quoteArgv(["a b", "it's", "", "$X"]), "'a b' 'it'\\''s' '' '$X'");
});
