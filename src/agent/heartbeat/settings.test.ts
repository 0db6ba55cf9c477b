import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { resolvePaths } from "../../base/paths.ts";
import type { Config } from "../../config/schema/index.ts";
import type { AgentId } from "../../core/names.ts";
import { usesAnthropicSubscription } from "../../model/subscription.ts";
import { isEmptyList } from "./beat.ts";
import { beatingAgents, HEARTBEAT_PROMPT, heartbeatSettings } from "./settings.ts";

const state = mkdtempSync(join(tmpdir(), "heartbeat-"));
after(() => rmSync(state, { recursive: true }));
const never = (): boolean => false;
const main = "main" as AgentId;
const of = (config: object, id: AgentId = main) => heartbeatSettings(config as Config, id, never);

test("defaults to every 30 minutes for the default agent in its main session", () => {
  assert.deepEqual(beatingAgents({} as Config, never), [
    {
      agentId: "main",
      every: "30m",
      everyMs: 1_800_000,
      session: "agent:main:main",
      prompt: HEARTBEAT_PROMPT,
      model: undefined,
      target: "last",
      to: undefined,
      accountId: undefined,
      ackMaxChars: 300,
      includeReasoning: false,
      activeHours: undefined,
    },
  ]);
});

test("reads a bare number as minutes, 0m as off, and defaults to an hour with a subscription", () => {
  const every = (text?: string): number =>
    of({ agents: { defaults: { heartbeat: text === undefined ? {} : { every: text } } } }).everyMs;
  assert.deepEqual(
    [every("45"), every("90s"), every("1h 30m"), every("0m"), every()],
    [2_700_000, 90_000, 5_400_000, 0, 1_800_000],
  );
  assert.equal(heartbeatSettings({} as Config, main, () => true).everyMs, 3_600_000);
  assert.deepEqual(beatingAgents({ agents: { defaults: { heartbeat: { every: "0m" } } } } as Config, never), []);
});

test("runs heartbeats only for agents with their own block, if any has one", () => {
  const config = {
    agents: {
      defaults: { heartbeat: { every: "10m", target: "none", prompt: "shared" } },
      list: [
        { id: "main", default: true },
        { id: "ops", heartbeat: { prompt: "own" } },
        { id: "off", heartbeat: { every: "0" } },
      ],
    },
  } as Config;
  assert.deepEqual(
    beatingAgents(config, never).map(({ agentId, every, target, prompt, session }) => [
      agentId,
      every,
      target,
      prompt,
      session,
    ]),
    [["ops", "10m", "none", "own", "agent:ops:main"]],
  );
});

test("uses the main, global or a session of the agent, and never one of another agent", () => {
  const session = (request: string, more: object = {}): string =>
    of({ agents: { defaults: { heartbeat: { session: request } } }, ...more }).session;
  assert.deepEqual(
    [session("main"), session("errands"), session("agent:ops:main"), session("global"), session("agent:main:x")],
    ["agent:main:main", "agent:main:errands", "agent:main:main", "global", "agent:main:x"],
  );
  assert.equal(of({ session: { scope: "global" } }).session, "global");
  assert.equal(of({ session: { mainKey: "work" } }).session, "agent:main:work");
});

test("detects a subscription by an Anthropic credential that is not an API key", () => {
  const paths = resolvePaths({ HOME: state, OPENCLAW_STATE_DIR: state });
  const file = join(state, "agents", "main", "agent", "auth-profiles.json");
  mkdirSync(dirname(file), { recursive: true });
  const ask = (profiles: object, config: object = {}): boolean => {
    rmSync(file, { force: true });
    writeFileSync(file, JSON.stringify({ version: 1, profiles, pad: Math.random() }));
    return usesAnthropicSubscription(config as Config, "main", paths, {});
  };
  const key = { type: "api_key", provider: "anthropic", key: "sk-ant-api" };
  const login = { type: "oauth", provider: "anthropic", access: "token", refresh: "r", expires: Date.now() + 1e9 };
  const setup = { type: "token", provider: "anthropic", token: "sk-ant-oat" };
  assert.deepEqual(
    [ask({ a: key }), ask({ a: login }), ask({ a: setup }), ask({ a: key, b: login }), ask({})],
    [false, true, true, true, false],
  );
  assert.equal(ask({ a: login }, { agents: { defaults: { model: "openai/gpt-5" } } }), false);
  assert.equal(ask({ a: key, b: login }, { auth: { order: { anthropic: ["a", "b"] } } }), false);
});

test("treats headings and blank lines as empty, and any word, list item or code as a task", () => {
  const empty = ["", "\n\n", "# Checks\n\n## Later  \n", "\uFEFF# Title\r\n \t\r\n", "#\n######"];
  const full = ["check the mail", "# Checks\n- mail", "#tag", "```\n```", "<!-- later -->", "####### seven"];
  assert.deepEqual([empty.map(isEmptyList), full.map(isEmptyList)], [empty.map(() => true), full.map(() => false)]);
});
