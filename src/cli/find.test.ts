// Which command is meant, with global options anywhere.
import assert from "node:assert/strict";
import { test } from "node:test";

import { UsageError } from "./command.ts";
import { findCommand, type Table } from "./find.ts";

const entry = (words: string) => ({
  path: words.split(" "),
  summary: "",
  load: () => Promise.reject(new Error("not loaded")),
});
const table: Table = {
  entries: [entry("status"), entry("gateway run"), entry("gateway stop"), entry("config get")],
  groups: [
    { path: ["gateway"], summary: "", bare: "run" },
    { path: ["config"], summary: "" },
  ],
};
const find = (...words: string[]) => {
  const found = findCommand(words, table);
  return [
    found.kind === "command" ? found.entry.path.join(" ") : `group ${found.group?.path.join(" ") ?? "root"}`,
    ...found.words,
  ];
};

test("by its words, wherever the global options stand", () => {
  assert.deepEqual(find("status"), ["status"]);
  assert.deepEqual(find("--dev", "status", "--json"), ["status", "--dev", "--json"]);
  assert.deepEqual(find("--profile", "status", "gateway", "--json", "stop", "x"), [
    "gateway stop",
    "--profile",
    "status",
    "--json",
    "x",
  ]);
  assert.deepEqual(find("--profile=a", "config", "get", "b"), ["config get", "--profile=a", "b"]);
});

test("a bare group is its own command where it has one", () => {
  assert.deepEqual(find("gateway"), ["gateway run"]);
  assert.deepEqual(find("gateway", "--port", "1"), ["gateway run", "--port", "1"]);
  assert.deepEqual(find("gateway", "--help"), ["group gateway", "--help"]);
  assert.deepEqual(find("config"), ["group config"]);
  assert.deepEqual(find(), ["group root"]);
  assert.deepEqual(find("--json"), ["group root", "--json"]);
});

test("what is no command is refused with the nearest", () => {
  const refusal = (...words: string[]): string => {
    try {
      return find(...words).join(" ");
    } catch (error) {
      assert.ok(error instanceof UsageError);
      return `${error.message} | ${error.helpFor.join(" ")}`;
    }
  };
  assert.equal(refusal("sttaus"), 'unknown command "sttaus" in: openclaw sttaus; did you mean: openclaw status | ');
  assert.equal(
    refusal("gateway", "stpo"),
    'unknown command "stpo" in: openclaw gateway stpo; did you mean: openclaw gateway stop | gateway',
  );
  assert.equal(refusal("constructor"), 'unknown command "constructor" in: openclaw constructor | ');
});
