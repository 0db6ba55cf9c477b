import assert from "node:assert/strict";
import { test } from "node:test";

import { allowedTools, decide } from "./decide.ts";
import { coreTools } from "./groups.ts";
import type { PolicyInput, ToolsSection, ToolUniverse } from "./shape.ts";
import { listWarnings } from "./warnings.ts";

const universe: ToolUniverse = {
  core: coreTools,
  plugins: [
    { id: "lobster", tools: [{ name: "lobster" }] },
    { id: "github", mcp: true, tools: [{ name: "github__search" }, { name: "github__Delete_Repo" }] },
    { id: "files", mcp: true, tools: [{ name: "files__read" }] },
    { id: "unseen", mcp: true, tools: [] },
    { id: "mcp", mcp: true, tools: [{ name: "mcp_tools" }] },
  ],
};
const under = (tools: ToolsSection, more: Partial<PolicyInput> = {}): string[] =>
  allowedTools({ config: { tools }, universe, agentId: "main", sandboxed: false, subagent: false, ...more }).filter(
    (name) => name.includes("__") || name === "mcp_tools" || name === "lobster",
  );
const all = ["lobster", "github__search", "github__Delete_Repo", "files__read", "mcp_tools"];

test("tools of MCP servers are allowed where no list says otherwise", () => {
  assert.deepEqual(under({}), all);
});

test("group:mcp denies every tool of MCP servers and no plugin tool", () => {
  assert.deepEqual(under({ deny: ["group:mcp"] }), ["lobster"]);
  assert.deepEqual(under({ deny: ["group:plugins"] }), all.slice(1));
});

test("the id of a server stands for its tools, and a tool for itself in any case", () => {
  assert.deepEqual(under({ deny: ["github"] }), ["lobster", "files__read", "mcp_tools"]);
  assert.deepEqual(
    under({ deny: ["github__delete_repo"] }),
    all.filter((name) => name !== "github__Delete_Repo"),
  );
});

test("a profile leaves them out until a list names them", () => {
  assert.deepEqual(under({ profile: "coding" }), []);
  assert.deepEqual(under({ profile: "coding", alsoAllow: ["github"] }), all.slice(1, 3).concat("mcp_tools"));
  assert.deepEqual(under({ profile: "coding", alsoAllow: ["group:mcp"] }), all.slice(1));
});

test("a sandboxed session has none of them unless its own list names them", () => {
  assert.deepEqual(under({}, { sandboxed: true }), []);
});

test("a list can name a tool before its server was asked, and an unknown name stays unknown", () => {
  const warned = listWarnings({ tools: { deny: ["unseen__x", "unseen", "group:mcp", "nowhere__x"] } }, universe);
  assert.deepEqual(
    warned.map(({ entry }) => entry),
    ["nowhere__x"],
  );
});

test("a record names the server", () => {
  const input = { config: {}, universe, agentId: "main", sandboxed: false, subagent: false };
  assert.equal(decide(input, "github__search").layers[0]?.note, "a tool of MCP server github");
});
