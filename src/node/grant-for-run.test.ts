// An approval covers only the exact command that was asked about, for the same agent and session.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Grant } from "../approval/grant.ts";
import { decisionFor, grantForRun, requireMatchingText } from "./grant-for-run.ts";

const asked = { command: "echo hi", cwd: "/srv", host: "node", agentId: "main", sessionKey: null };
const grant = (more: Partial<Grant> = {}): Grant => ({
  id: "a",
  kind: "node",
  handler: null,
  decision: "allow-once",
  agent: "main",
  session: null,
  body: asked,
  ...more,
});
const params = { command: ["echo", "hi"], cwd: "/srv", agentId: "main" };

describe("a recorded approval", () => {
  test("covers the command it was given for", () => {
    assert.equal(grantForRun(params, [grant({ id: "x", body: {} }), grant()])?.id, "a");
  });
  test("covers a shell line as it was shown", () => {
    const body = { ...asked, command: "echo raw; exit 4" };
    assert.equal(
      grantForRun({ ...params, command: ["/bin/sh", "-lc", "echo raw; exit 4"] }, [grant({ body })])?.id,
      "a",
    );
  });
  test("covers an argument with spaces as it was shown", () => {
    const body = { ...asked, command: 'echo "a b"' };
    assert.equal(grantForRun({ ...params, command: ["echo", "a b"] }, [grant({ body })])?.id, "a");
  });
  test("covers arguments joined by spaces, as the published command line shows them", () => {
    const body = { ...asked, command: "echo a b it's $HOME" };
    assert.equal(grantForRun({ ...params, command: ["echo", "a b", "it's", "$HOME"] }, [grant({ body })])?.id, "a");
  });
  test("does not cover ambiguous arguments", () => {
    for (const command of [
      ["echo a", "b"],
      ["echo", "a", "", "b"],
      ["echo", " a"],
      ["echo", "a\nb"],
      ["echo", "a\u200bb"],
      ["echo", "a  b"],
    ]) {
      const body = { ...asked, command: command.join(" ") };
      assert.equal(grantForRun({ ...params, command }, [grant({ body })]), undefined, JSON.stringify(command));
    }
  });

  const others: readonly [string, Record<string, unknown>, Partial<Grant>?][] = [
    ["another word", { command: ["echo", "ho"] }],
    ["one more word", { command: ["echo", "hi", "there"] }],
    ["the same letters as one program", { command: ["echo hi"] }],
    ["another folder", { cwd: "/" }],
    ["no folder", { cwd: undefined }],
    ["another agent", { agentId: "other" }],
    ["no agent", { agentId: undefined }],
    ["another session", { sessionKey: "agent:main:main" }],
    ["variables that were not shown", { env: { LD_PRELOAD: "/x" } }],
    ["no command", { command: [] }],
    ["a command that is a string", { command: "echo hi" }],
    ["a command with a number in it", { command: ["echo", 1] }],
    ["an approval for the gateway's own host", {}, { kind: "exec" }],
    ["a plan of the gateway, which only the gateway may use", {}, { handler: "node" }],
    ["an empty body", {}, { body: null }],
  ];
  for (const [title, change, more] of others)
    test(`does not cover ${title}`, () =>
      assert.equal(grantForRun({ ...params, ...change }, [grant(more)]), undefined));
});

test("passes on always for programs that a node may remember, and once for others", () => {
  const always = grant({ decision: "allow-always" });
  assert.equal(decisionFor({ command: ["uname", "-a"] }, always), "allow-always");
  assert.equal(decisionFor({ command: ["uname", "-a"] }, grant()), "allow-once");
  for (const command of [["python3", "x.py"], ["/bin/sh", "-lc", "id; id"], ["sh", "-c", "id"], [], "uname"])
    assert.equal(decisionFor({ command }, always), "allow-once", JSON.stringify(command));
});

describe("rawCommand", () => {
  const fits: readonly [readonly string[], string][] = [
    [["/bin/sh", "-lc", "a; b"], "a; b"],
    [["cmd.exe", "/c", "dir"], "dir"],
    [["cmd.exe", "/d", "/s", "/c", "dir"], "dir"],
    [["uname", "-a"], "uname -a"],
    [["echo", "a b"], 'echo "a b"'],
  ];
  for (const [command, rawCommand] of fits)
    test(`${rawCommand} is ${JSON.stringify(command)}`, () => requireMatchingText({ command, rawCommand }));
  test("can be omitted", () => {
    requireMatchingText({ command: ["id"] });
    requireMatchingText({ command: ["id"], rawCommand: null });
  });
  for (const [command, rawCommand] of [
    [["/bin/sh", "-lc", "id"], "uname"],
    [["/bin/sh", "-lc", "id", "uname"], "uname"],
    [["/bin/sh", "-c", "id"], "id"],
    [["/tmp/sh", "-lc", "id"], "id"],
    [["cmd.exe", "/k", "id"], "id"],
    [["id"], "uname"],
    [["id"], 7],
    ["id", "id"],
    [[], ""],
  ] as const) {
    test(`${JSON.stringify(rawCommand)} is not ${JSON.stringify(command)}`, () =>
      assert.throws(() => requireMatchingText({ command, rawCommand }), { code: "node.other-text" }));
  }
});
