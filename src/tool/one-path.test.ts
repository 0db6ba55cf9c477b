// Only call.ts runs tools: no other source runs one, imports one, or gets a reference to one.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const sources = globSync("src/**/*.ts", { cwd: root })
  .filter((path) => !/\.(test|cases)\.ts$/.test(path))
  .map((path) => ({ path, code: readFileSync(join(root, path), "utf8") }));
const matching = (pattern: RegExp): string[] =>
  sources
    .filter(({ code }) => pattern.test(code))
    .map(({ path }) => path)
    .sort();

test("only call.ts runs a tool", () => {
  assert.deepEqual(matching(/\btool\.run\(|\.tool\??\.run\(|\.run\(args\b/), ["src/tool/call.ts"]);
});

test("only app opens the list of built-in tools, and passes it only to the catalog", () => {
  const openers = matching(/from "[^"]*tool\/builtin\.ts"/);
  assert.deepEqual(openers, ["src/app/catalog.ts"]);
  const code = sources.find(({ path }) => path === "src/app/catalog.ts")?.code ?? "";
  assert.equal(code.match(/builtinTools\(/g)?.length, 1);
  assert.match(code, /createCatalog\(\{\s*tools: builtinTools\(/);
});

test("tool files are imported by builtin.ts and their own folder only", () => {
  const importers = sources.filter(
    ({ path, code }) =>
      /from "[^"]*\/(?:tool\/)?(?:fs|runtime|sessions|plain)\/[a-z-]+\.ts"/.test(code) &&
      path.startsWith("src/") &&
      !/^src\/tool\/(?:fs|runtime|sessions|plain)\//.test(path),
  );
  assert.deepEqual(
    importers.map(({ path }) => path),
    ["src/tool/builtin.ts"],
  );
});

test("every entry point calls tools through callTool", () => {
  const callers = [
    "src/agent/tools.ts", //              the model
    "src/app/cron-engine.ts", //          jobs without a model
    "src/security/selftest/environment.ts", //       the self-test, in its own runtime
    "src/chat/run-tool.ts", //            /tool and !
    "src/cli/commands/tools-call.ts", //  the shell, when no gateway runs
    "src/gateway/http/tools-invoke.ts",
    "src/gateway/methods/tools.ts",
    "src/mcp/server/parts.ts", //        resources, which are read through tools
    "src/mcp/server/tools.ts",
  ];
  // The agent loop uses a port of that name, which tools.ts implements; the recorder wraps the function and calls it; the
  // replay answers from a recording.
  const between = ["src/agent/calls.ts", "src/agent/record-traffic.ts", "src/agent/replay.ts", "src/tool/call.ts"];
  assert.deepEqual(matching(/\bcallTool\(/), [...callers, ...between].sort());
});
