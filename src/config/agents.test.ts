// The agents of a config, the default agent, and their workspaces.
import assert from "node:assert/strict";
import { test } from "node:test";

import { resolvePaths, type Paths } from "../base/paths.ts";
import { parseAgentId } from "../core/names.ts";
import { agentConfig, agentIds, defaultAgentId, mainKeyOf, workspaceOf } from "./agents.ts";

const paths = resolvePaths({ HOME: "/h", OPENCLAW_STATE_DIR: "/h/.openclaw" });
const main = parseAgentId("main");
const work = parseAgentId("work");

test("without a list there is one agent, main", () => {
  assert.deepEqual([agentIds({}), defaultAgentId({}), mainKeyOf({})], [["main"], "main", "main"]);
});

test("the agent marked as default is the default, otherwise the first one", () => {
  const list = [{ id: "One" }, { id: "work", default: true, name: "Work" }];
  assert.deepEqual(agentIds({ agents: { list } }), ["one", "work"]);
  assert.equal(defaultAgentId({ agents: { list } }), "work");
  assert.equal(defaultAgentId({ agents: { list: [{ id: "a" }, { id: "b" }] } }), "a");
  assert.deepEqual(agentConfig({ agents: { list } }, work), list[1]);
});

test("each agent has a workspace", () => {
  const config = {
    agents: {
      defaults: { workspace: "~/shared" },
      list: [{ id: "main" }, { id: "work" }, { id: "own", workspace: "/w" }],
    },
  };
  const at = (where: Paths): string[] => agentIds(config).map((id) => workspaceOf(config, id, where));
  assert.deepEqual(at(paths), ["/h/shared", "/h/.openclaw/workspace-work", "/w"]);
  assert.equal(workspaceOf({}, main, paths), "/h/.openclaw/workspace");
});

test("workspaces follow the state folder and the profile", () => {
  assert.equal(workspaceOf({}, main, resolvePaths({ HOME: "/h", OPENCLAW_STATE_DIR: "/s" })), "/s/workspace");
  const profiled = resolvePaths({ HOME: "/h" }, "lab");
  assert.deepEqual(
    [workspaceOf({}, main, profiled), workspaceOf({}, work, profiled)],
    ["/h/.openclaw/workspace-lab", "/h/.openclaw-lab/workspace-work"],
  );
});
