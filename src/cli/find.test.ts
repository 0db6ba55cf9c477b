// Finds the command in the arguments, with global options anywhere.
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
  entries: [
    entry("status"),
    entry("gateway run"),
    entry("gateway stop"),
    entry("config get"),
    entry("browser tabs"),
    entry("browser tab new"),
  ],
  groups: [
    {
      path: ["browser"],
      summary: "",
      bare: "tabs",
      options: { "browser-profile": "string" },
    },
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

test("finds a command with global options in any position", () => {
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

test("accepts the options of a group before its subcommand", () => {
  assert.deepEqual(find("browser", "--browser-profile", "tab", "tabs"), ["browser tabs", "--browser-profile", "tab"]);
  assert.deepEqual(find("browser", "--browser-profile=work", "tab", "--json", "new"), [
    "browser tab new",
    "--browser-profile=work",
    "--json",
  ]);
  assert.deepEqual(find("browser", "--browser-profile", "work"), ["browser tabs", "--browser-profile", "work"]);
});

test("runs the default subcommand of a bare group that has one", () => {
  assert.deepEqual(find("gateway"), ["gateway run"]);
  assert.deepEqual(find("gateway", "--port", "1"), ["gateway run", "--port", "1"]);
  assert.deepEqual(find("gateway", "--help"), ["group gateway", "--help"]);
  assert.deepEqual(find("config"), ["group config"]);
  assert.deepEqual(find(), ["group root"]);
  assert.deepEqual(find("--json"), ["group root", "--json"]);
});

test("rejects an unknown command and suggests the nearest", () => {
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
