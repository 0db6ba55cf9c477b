// The memory settings of an agent: its own keys over the defaults, paths below the workspace, one index per agent.
import assert from "node:assert/strict";
import { test } from "node:test";

import type { AgentId } from "../core/names.ts";
import { resolvePaths } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import { disabledBy, memorySettings } from "./settings.ts";

const paths = resolvePaths({ HOME: "/home/me" });
const main = "main" as AgentId;
const work = "work" as AgentId;

test("uses the documented defaults without a config", () => {
  assert.deepEqual(memorySettings({}, main, paths), {
    agent: "main",
    file: "/home/me/.openclaw/memory/main.sqlite",
    workspace: "/home/me/.openclaw/workspace",
    extraPaths: [],
    chunking: { tokens: 400, overlap: 80 },
    watch: true,
    debounceMs: 1500,
    intervalMs: 0,
    sources: ["memory"],
    onSessionStart: true,
    onSearch: true,
    sessions: { deltaBytes: 100_000, deltaMessages: 50 },
    maxResults: 6,
    minScore: undefined,
    hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3, candidateMultiplier: 4 },
    vector: { useExtension: true, extensionPath: undefined, maxCached: 50_000 },
    citations: "auto",
  });
});

test("merges an agent's keys over the defaults; sessions need the experimental key", () => {
  const config = {
    agents: {
      defaults: {
        memorySearch: { sources: ["memory", "sessions"], query: { maxResults: 9 }, chunking: { tokens: 200 } },
      },
      list: [{ id: "work", memorySearch: { experimental: { sessionMemory: true }, query: { minScore: 0.5 } } }],
    },
  } as Config;
  const { sources, maxResults, minScore, chunking } = memorySettings(config, work, paths);
  assert.deepEqual(
    { sources, maxResults, minScore, tokens: chunking.tokens },
    { sources: ["memory", "sessions"], maxResults: 9, minScore: 0.5, tokens: 200 },
  );
  assert.deepEqual(memorySettings(config, main, paths).sources, ["memory"]);
});

test("resolves extra paths from the workspace and adds the agent to an index path", () => {
  const withStore = (path: string): Config =>
    ({
      agents: { defaults: { memorySearch: { store: { path }, extraPaths: ["a", "/b", "~/c"] } } },
    }) as Config;
  const fileOf = (path: string): string => memorySettings(withStore(path), work, paths).file;
  assert.deepEqual(memorySettings(withStore("x"), main, paths).extraPaths, [
    "/home/me/.openclaw/workspace/a",
    "/b",
    "/home/me/c",
  ]);
  assert.deepEqual(["/i/{agentId}.db", "~/one.sqlite", "rel/{agentId}/x.sqlite", "/all"].map(fileOf), [
    "/i/work.db",
    "/home/me/one.work.sqlite",
    "/home/me/.openclaw/rel/work/x.sqlite",
    "/all.work",
  ]);
});

test("names the key that disables memory: the slot, the agent or the defaults", () => {
  assert.equal(disabledBy({}, main), undefined);
  const rows: readonly [Config, RegExp][] = [
    [{ plugins: { slots: { memory: "none" } } } as Config, /plugins\.slots\.memory/],
    [{ agents: { defaults: { memorySearch: { enabled: false } } } } as Config, /agents\.defaults/],
    [{ agents: { list: [{ id: "main", memorySearch: { enabled: false } }] } } as Config, /agent main/],
  ];
  for (const [config, words] of rows) {
    const disabled = disabledBy(config, main);
    assert.match(`${disabled?.reason} ${disabled?.fix}`, words);
  }
});
