import assert from "node:assert/strict";
import { test } from "node:test";

import { OpenClawError } from "../../../src/core/error.ts";
import {
  addEdit,
  applyEdits,
  defaults,
  effective,
  entriesOf,
  inheritedOf,
  patternIssue,
  scopesOf,
  toSnapshot,
  toWire,
  valueOf,
  type RuleEdit,
} from "./rules.ts";

const wire = {
  version: 1,
  socket: { path: "/s" },
  defaults: { ask: "always" },
  agents: {
    "*": { security: "deny", allowlist: [{ id: "1", pattern: "/usr/bin/rg", lastUsedAt: 5, lastUsedCommand: "rg x" }] },
    main: {
      security: "full",
      autoAllowSkills: true,
      allowlist: [{ pattern: "/bin/ls" }, { pattern: "/bin/ls", cwd: "/w" }],
    },
  },
};
const { file } = toSnapshot({ path: "/p", hash: "h", exists: true, file: wire });

test("sends an unedited approvals file back unchanged", () => {
  assert.deepEqual(toSnapshot({ path: "/p", hash: "h", file: wire }).path, "/p");
  assert.deepEqual(toWire(file), wire);
  const kept = { ...wire, agents: JSON.parse('{"__proto__": {"security": "full"}}') as object };
  const odd = toSnapshot({ hash: "h", file: kept }).file;
  assert.equal(
    JSON.stringify(toWire(applyEdits(odd, [set("__proto__", "ask", "off")])).agents),
    '{"__proto__":{"security":"full","ask":"off"}}',
  );
});

test("rejects an answer without a file and hides malformed parts", () => {
  for (const answer of [undefined, null, "x", {}, { hash: 1, file: {} }, { hash: "h", file: [] }])
    assert.throws(() => toSnapshot(answer), OpenClawError);
  const odd = {
    hash: "h",
    file: {
      defaults: 7,
      agents: { a: 1, b: { allowlist: [1, { pattern: 2 }, { pattern: "/x", lastUsedAt: "soon" }] } },
    },
  };
  const { file: read } = toSnapshot(odd);
  assert.deepEqual([read.defaults, Object.keys(read.agents), entriesOf(read, "b")], [{}, ["b"], [{ pattern: "/x" }]]);
});

test("an agent inherits from all agents, then the defaults, then the built-in values", () => {
  assert.deepEqual(inheritedOf(file, "main", "security"), { value: "deny", from: "all agents" });
  assert.deepEqual(inheritedOf(file, "main", "ask"), { value: "always", from: "the defaults" });
  assert.deepEqual(inheritedOf(file, "*", "security"), { value: "allowlist", from: "built in" });
  assert.deepEqual(inheritedOf(file, defaults, "askFallback"), { value: "deny", from: "built in" });
  assert.deepEqual(inheritedOf(file, "toString", "autoAllowSkills"), { value: "no", from: "built in" });
  assert.deepEqual(scopesOf(file, ["ada", "main"]), ["*", "ada", "main"]);
  assert.deepEqual(scopesOf(file, []), ["*", "main"]);
});

const set = (
  scope: string,
  key: "security" | "ask" | "autoAllowSkills",
  value: string | boolean | undefined,
): RuleEdit => ({
  kind: "set",
  scope,
  key,
  value,
});
const add = (scope: string, pattern: string): RuleEdit => ({ kind: "add", scope, pattern });

test("edits change only what they name", () => {
  const next = applyEdits(file, [
    set(defaults, "security", "deny"),
    set("main", "autoAllowSkills", undefined),
    add("ada", "/usr/bin/jq"),
    { kind: "remove", scope: "main", entry: { pattern: "/bin/ls" } },
    { kind: "remove", scope: "*", entry: { id: "1", pattern: "/changed/since" } },
    { kind: "remove", scope: "*", entry: { pattern: "/never/there" } },
  ]);
  assert.deepEqual(toWire(next), {
    version: 1,
    socket: { path: "/s" },
    defaults: { ask: "always", security: "deny" },
    agents: {
      "*": { security: "deny", allowlist: [] },
      main: { security: "full", allowlist: [{ pattern: "/bin/ls", cwd: "/w" }] },
      ada: { allowlist: [{ pattern: "/usr/bin/jq" }] },
    },
  });
  assert.deepEqual(toWire(file), wire);
});

test("an edit replaces the edit it reverses", () => {
  const one = addEdit([], set("main", "ask", "off"));
  assert.deepEqual(addEdit(one, set("main", "ask", "always")), [set("main", "ask", "always")]);
  const two = addEdit(one, add("main", "/x/y"));
  assert.deepEqual(addEdit(two, { kind: "remove", scope: "main", entry: { pattern: "/x/y" } }), one);
  assert.equal(addEdit(two, { kind: "remove", scope: "ada", entry: { pattern: "/x/y" } }).length, 3);
});

test("after a change by another client the remaining edits are applied on top of it", () => {
  const entry = { id: "1", pattern: "/usr/bin/rg" };
  const edits: RuleEdit[] = [
    set("main", "security", "full"),
    set("main", "ask", "off"),
    add("*", "/usr/bin/fd"),
    { kind: "remove", scope: "*", entry },
  ];
  assert.deepEqual(effective(file, edits), edits.slice(1));
  const used = applyEdits(file, [{ kind: "remove", scope: "*", entry }, add("*", "/usr/bin/fd")]);
  assert.deepEqual(effective(used, edits), [set("main", "ask", "off")]);
  assert.equal(valueOf(applyEdits(used, edits), "main", "ask"), "off");
  assert.equal(entriesOf(applyEdits(used, edits), "*").length, 1);
});

test("rejects an allowlist entry without a folder and a duplicate", () => {
  const entries = entriesOf(file, "*");
  assert.match(patternIssue("", entries) ?? "", /Enter the path of a program/);
  assert.match(patternIssue("rg", entries) ?? "", /folder/);
  assert.match(patternIssue("/usr/bin/rg", entries) ?? "", /Already/);
  assert.equal(patternIssue("~/bin/*", entries), undefined);
});
