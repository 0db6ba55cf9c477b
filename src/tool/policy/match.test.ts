// Entries and names: what matches, what is only similar, and which names a plugin cannot use.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { canonicalName, coreGroups, coreTools, groupOf } from "./groups.ts";
import { globMatches, kindOf, matches, membersOf, optInOf, toGlob, vocabularyOf } from "./match.ts";
import { universeOf } from "./policy.cases.ts";

const vocabulary = vocabularyOf(
  universeOf([
    { id: "Lobster", tools: [{ name: "lobster" }, { name: "Lob_Stop", optional: true }] },
    { id: "empty", tools: [] },
    { id: "read", tools: [{ name: "reader" }, { name: "exec" }, { name: "group:fs" }] },
    { id: "late", tools: [{ name: "LOBSTER" }] },
  ]),
);

void test("matches exactly the tools of an entry", () => {
  const meaning = (text: string) => {
    const entry = vocabulary.entry(text, 0);
    return {
      kind: kindOf(entry, vocabulary),
      optsIn: optInOf(entry) !== undefined,
      members: membersOf(entry, vocabulary),
    };
  };
  const unknown = { kind: "unknown", optsIn: false, members: [] };
  assert.deepEqual(meaning(" Exec\t"), { kind: "core", optsIn: false, members: ["exec"] });
  assert.deepEqual(meaning("BASH"), { kind: "core", optsIn: false, members: ["exec"] });
  assert.deepEqual(meaning("apply-patch"), { kind: "core", optsIn: false, members: ["apply_patch"] });
  assert.deepEqual(meaning("Group:Runtime"), { kind: "core", optsIn: false, members: ["exec", "process"] });
  assert.deepEqual(meaning("lobster"), { kind: "plugin", optsIn: true, members: ["lobster", "lob_stop"] });
  assert.deepEqual(meaning("lob_stop"), { kind: "plugin", optsIn: true, members: ["lob_stop"] });
  assert.deepEqual(meaning("group:plugins"), {
    kind: "plugin",
    optsIn: true,
    members: ["memory_search", "memory_get", "lobster", "lob_stop", "reader"],
  });
  assert.deepEqual(meaning("Memory-Core"), { kind: "plugin", optsIn: true, members: ["memory_search", "memory_get"] });
  assert.deepEqual(meaning("empty"), { kind: "plugin", optsIn: true, members: [] });
  assert.deepEqual(meaning("read"), { kind: "core", optsIn: false, members: ["read"] });
  assert.deepEqual(meaning("lob*"), { kind: "plugin", optsIn: false, members: ["lobster", "lob_stop"] });
  assert.deepEqual(meaning("*_get"), { kind: "core", optsIn: false, members: ["memory_get"] });
  for (const text of [
    "",
    " ",
    "exe",
    "memory",
    "group:",
    "group:nope",
    "group: fs",
    "zzz*",
    "r?ad",
    "[re]ad",
    "re.d",
    "__proto__",
  ]) {
    assert.deepEqual(meaning(text), unknown, text);
  }
});

void test("never matches confusable letters (attack POL-012)", () => {
  const lookAlikes = ["ехес", "e\u200bxec", "ｅxec", "exeс", "\u202eexec", "web_fetcℎ", "nodeſ"];
  for (const text of lookAlikes) assert.equal(kindOf(vocabulary.entry(text, 0), vocabulary), "unknown", text);
  const kelvin = vocabularyOf(universeOf([{ id: "k", tools: [{ name: "task" }] }]));
  assert.equal(kindOf(kelvin.entry("tas\u212a", 0), kelvin), "unknown");
  assert.equal(canonicalName("TAS\u212a"), "tas\u212a");
});

void test("denies a plugin tool a core name, a group name or a name in use", () => {
  assert.deepEqual(vocabulary.clashes, [
    { plugin: "read", tool: "exec", with: "core" },
    { plugin: "read", tool: "group:fs", with: "core" },
    { plugin: "late", tool: "LOBSTER", with: "Lobster" },
  ]);
  assert.deepEqual(vocabulary.tools.get("lob_stop"), { name: "Lob_Stop", plugin: "Lobster", optional: true });
});

void test("matches any run of characters for a wildcard, anchored at both ends", () => {
  const cases: [pattern: string, yes: string[], no: string[]][] = [
    ["*", ["", "exec", "a*b"], []],
    ["web_*", ["web_", "web_fetch"], ["web", "my_web_x"]],
    ["*_get", ["memory_get", "_get"], ["memory_gets", "get"]],
    ["s*s*s", ["sss", "sessions"], ["ss", "s"]],
    ["a*a", ["aa", "aba"], ["a"]],
    ["ab*bc", ["abbc", "abxbc"], ["abc"]],
    ["**x**", ["x", "axb"], ["", "y"]],
    ["a.c*", ["a.cd"], ["abcd"]],
    ["(*", ["("], ["x"]],
  ];
  for (const [pattern, yes, no] of cases) {
    for (const name of yes) assert.equal(globMatches(toGlob(pattern), name), true, `${pattern} ${name}`);
    for (const name of no) assert.equal(globMatches(toGlob(pattern), name), false, `${pattern} ${name}`);
  }
});

void test("agrees with a simple definition of wildcards", () => {
  const entries = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
  const name = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 });
  fc.assert(
    fc.property(entries, name, (pattern, text) => {
      fc.pre(pattern.includes("*"));
      assert.equal(globMatches(toGlob(pattern), text), slowly(pattern, text));
    }),
    { numRuns: 3000 },
  );
});

void test("matches every wildcard in short time", () => {
  const glob = toGlob("a*".repeat(20_000));
  assert.equal(globMatches(glob, "a".repeat(64)), false);
  assert.equal(globMatches(toGlob(`${"*a".repeat(30)}*b`), "a".repeat(5000)), false);
});

void test("knows the group of every tool in a group", () => {
  const grouped = [...coreTools].flatMap(([tool, group]) => (group === undefined ? [] : [[tool, `group:${group}`]]));
  for (const [tool = "", group = ""] of grouped) assert.ok(coreGroups.get(group)?.includes(tool));
  assert.deepEqual([groupOf("bash"), groupOf("Image"), groupOf("nope")], ["runtime", undefined, undefined]);
  const entry = vocabulary.entry("group:openclaw", 0);
  const outside = [...coreTools.keys()].filter((tool) => !matches(entry, tool));
  assert.deepEqual(outside, ["read", "write", "edit", "apply_patch", "exec", "process"]);
});

function slowly(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  const [head, rest] = [pattern[0], pattern.slice(1)];
  if (head === "*") return slowly(rest, text) || (text !== "" && slowly(pattern, text.slice(1)));
  return text[0] === head && slowly(rest, text.slice(1));
}
