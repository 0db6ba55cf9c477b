// When write, edit and apply_patch are available, row by row.
import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULT_AGENT, parseAgentId } from "../../core/names.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ToolEnv } from "../tool.ts";
import { whenPatchable, whenWritable } from "./availability.ts";

const env = (config: Config, over: Partial<ToolEnv> = {}): ToolEnv => ({
  config,
  agent: DEFAULT_AGENT,
  model: "openai/gpt-5.2",
  sandboxed: false,
  ...over,
});

const patching = (applyPatch: object): Config => ({ tools: { exec: { applyPatch } } });
const on = patching({ enabled: true });

const rows: readonly [name: string, given: ToolEnv, fix: string | undefined][] = [
  ["disabled by default", env({}), "openclaw config set tools.exec.applyPatch.enabled true"],
  ["disabled", env(patching({ enabled: false })), "openclaw config set tools.exec.applyPatch.enabled true"],
  ["OpenAI", env(on), undefined],
  ["OpenAI Codex", env(on, { model: "openai-codex/gpt-5.2-codex" }), undefined],
  ["any case", env(on, { model: "OpenAI/GPT-5.2" }), undefined],
  [
    "Anthropic",
    env(on, { model: "anthropic/claude" }),
    "openclaw config set agents.defaults.model.primary openai/gpt-5.2",
  ],
  [
    "a provider with the same prefix",
    env(on, { model: "openai-proxy/gpt-5.2" }),
    "openclaw config set agents.defaults.model.primary openai/gpt-5.2",
  ],
  [
    "an OpenAI name at another provider",
    env(on, { model: "openrouter/openai/gpt-5.2" }),
    "openclaw config set agents.defaults.model.primary openai/gpt-5.2",
  ],
  [
    "no model at all",
    env(on, { model: undefined }),
    "openclaw config set agents.defaults.model.primary openai/gpt-5.2",
  ],
  [
    "a call without a model uses the agent's",
    env({ ...on, agents: { defaults: { model: { primary: "openai/gpt-5.2" } } } }, { model: undefined }),
    undefined,
  ],
  ["listed by name", env(patching({ enabled: true, allowModels: ["gpt-5.2"] })), undefined],
  ["listed with its provider", env(patching({ enabled: true, allowModels: ["openai/gpt-5.2"] })), undefined],
  ["listed in another case", env(patching({ enabled: true, allowModels: [" OpenAI/GPT-5.2 "] })), undefined],
  [
    "not listed",
    env(patching({ enabled: true, allowModels: ["gpt-5.1"] })),
    'add "openai/gpt-5.2" to tools.exec.applyPatch.allowModels',
  ],
  [
    "listed for another provider",
    env(patching({ enabled: true, allowModels: ["openai-codex/gpt-5.2"] })),
    'add "openai/gpt-5.2" to tools.exec.applyPatch.allowModels',
  ],
  [
    "an empty list allows no model",
    env(patching({ enabled: true, allowModels: [] })),
    'add "openai/gpt-5.2" to tools.exec.applyPatch.allowModels',
  ],
  [
    "one agent only",
    env({ agents: { list: [{ id: "main", tools: { exec: { applyPatch: { enabled: true } } } }] } }),
    undefined,
  ],
  [
    "every agent except one",
    env({ ...on, agents: { list: [{ id: "main", tools: { exec: { applyPatch: { enabled: false } } } }] } }),
    "openclaw config set tools.exec.applyPatch.enabled true",
  ],
  [
    "sandboxed with a read-only workspace",
    env({ ...on, agents: { defaults: { sandbox: { workspaceAccess: "ro" } } } }, { sandboxed: true }),
    "openclaw config set agents.defaults.sandbox.workspaceAccess rw",
  ],
];

for (const [name, given, fix] of rows) {
  test(`apply_patch: ${name}`, () => {
    const answer = whenPatchable(given);
    assert.equal(answer.available ? undefined : answer.fix, fix);
    if (!answer.available) assert.ok(answer.reason !== "");
  });
}

test("appendix B 24: hides every tool that writes only when the sandboxed workspace is read-only", () => {
  const config = (access: "none" | "ro" | "rw"): Config => ({
    agents: { defaults: { sandbox: { workspaceAccess: access } } },
  });
  const available = (access: "none" | "ro" | "rw", sandboxed: boolean): boolean =>
    whenWritable(env(config(access), { sandboxed })).available;
  assert.deepEqual(
    (["none", "ro", "rw"] as const).map((access) => [available(access, true), available(access, false)]),
    [
      [true, true],
      [false, true],
      [true, true],
    ],
  );
});

test("prefers the agent's own access to the default, and the fix names the deciding key", () => {
  const config: Config = {
    agents: {
      defaults: { sandbox: { workspaceAccess: "rw" } },
      list: [{ id: "main" }, { id: "reader", sandbox: { workspaceAccess: "ro" } }],
    },
  };
  assert.deepEqual(whenWritable(env(config, { sandboxed: true })), { available: true });
  const answer = whenWritable(env(config, { sandboxed: true, agent: parseAgentId("reader") }));
  assert.equal(answer.available ? "" : answer.fix, "openclaw config set agents.list[1].sandbox.workspaceAccess rw");
});
