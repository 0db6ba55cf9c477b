// The choice of an agent's embedder by config, keys and installed packages.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import type { Config } from "../../config/schema/index.ts";
import { parseAgentId } from "../../core/names.ts";
import { systemClock } from "../../base/clock.ts";
import type { Env, Paths } from "../../base/paths.ts";
import { createProfiles } from "../../model/profiles.ts";
import { chooseEmbedder, type Chosen } from "./choose.ts";
import { findExtra } from "./extra.ts";

const state = mkdtempSync(join(tmpdir(), "choose-"));
after(() => rmSync(state, { recursive: true, force: true }));
const paths: Paths = {
  home: state,
  state,
  config: join(state, "openclaw.json"),
  product: "openclaw",
  profile: undefined,
};
const main = parseAgentId("main");
const quiet = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };
const hasExtra = findExtra(paths) !== undefined;

type Search = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["memorySearch"]>;

function choose(
  memorySearch: Search,
  { env = {}, models }: { env?: Env; models?: Config["models"] } = {},
  agent = main,
): Chosen {
  const config: Config = { agents: { defaults: { memorySearch } }, ...(models === undefined ? {} : { models }) };
  const profiles = createProfiles({ config: () => config, env, paths, clock: systemClock, log: quiet });
  return chooseEmbedder({ config, env, paths, profiles }, agent);
}

const remoteOf = ({ first }: Chosen) => (first !== undefined && "remote" in first ? first.remote : undefined);
const all = { OPENAI_API_KEY: "sk-o", GEMINI_API_KEY: "g-1", VOYAGE_API_KEY: "v-1" };

test("chooses openai, gemini, then voyage, by available keys", () => {
  const { OPENAI_API_KEY: _openai, ...rest } = all;
  const { GEMINI_API_KEY: _gemini, ...last } = rest;
  assert.deepEqual(
    [all, rest, last].map((env) => choose({}, { env }).first?.provider),
    ["openai", "gemini", "voyage"],
  );
  assert.deepEqual(remoteOf(choose({}, { env: all })), {
    model: "text-embedding-3-small",
    baseUrl: "https://api.openai.com/v1",
    apiKey: "sk-o",
    headers: {},
    hint: "agents.defaults.memorySearch.remote",
  });
  assert.equal(remoteOf(choose({}, { env: rest }))?.model, "gemini-embedding-001");
});

test("chooses the installed local model without any key, otherwise names the command that adds it", () => {
  const chosen = choose({ provider: "auto" });
  if (hasExtra) assert.equal(chosen.first?.provider, "local");
  else assert.equal(chosen.hint, "openclaw memory extra add");
});

test("chooses no embedder for provider none, whatever keys exist", () => {
  assert.deepEqual(choose({ provider: "none" }, { env: all }), {
    reason: "agents.defaults.memorySearch.provider is none",
    hint: "agents.defaults.memorySearch.provider",
  });
});

test("reports a named provider without a key instead of replacing it", () => {
  assert.deepEqual(choose({ provider: "voyage" }, { env: { OPENAI_API_KEY: "sk-o" } }), {
    reason: 'No API key found for provider "voyage".',
    hint: "agents.defaults.memorySearch.remote.apiKey",
  });
});

test("remote overrides models.providers, headers are merged, and a custom base URL needs no key", () => {
  const models = {
    providers: { openai: { baseUrl: "http://one/v1", apiKey: "sk-models", headers: { a: "1", b: "1" }, models: [] } },
  };
  assert.deepEqual(remoteOf(choose({ provider: "openai", model: "m" }, { models })), {
    model: "m",
    baseUrl: "http://one/v1",
    apiKey: "sk-models",
    headers: { a: "1", b: "1" },
    hint: "agents.defaults.memorySearch.remote",
  });
  const remote = { baseUrl: "http://two/v1", apiKey: "sk-remote", headers: { b: "2" } };
  assert.deepEqual(remoteOf(choose({ provider: "openai", remote }, { models })), {
    model: "text-embedding-3-small",
    baseUrl: "http://two/v1",
    apiKey: "sk-remote",
    headers: { a: "1", b: "2" },
    hint: "agents.defaults.memorySearch.remote",
  });
  assert.equal(remoteOf(choose({ remote: { baseUrl: "http://mine/v1" } }))?.apiKey, undefined);
  assert.equal(choose({ remote: { baseUrl: "http://mine/v1" } }).first?.provider, "openai");
  assert.equal(choose({ provider: "openai", remote: { baseUrl: "mine" } }).reason, "not a valid URL: mine");
});

test("finds ollama at its default URL without a key", () => {
  assert.deepEqual(remoteOf(choose({ provider: "ollama", model: "all-minilm" })), {
    model: "all-minilm",
    baseUrl: "http://127.0.0.1:11434/v1",
    apiKey: undefined,
    headers: {},
    hint: "agents.defaults.memorySearch.remote",
  });
});

test("prefers stored profiles and ignores OAuth logins", () => {
  const folder = join(state, "agents", "main", "agent");
  mkdirSync(folder, { recursive: true });
  const profiles = {
    "openai:chat": {
      type: "oauth",
      provider: "openai",
      access: "token-of-a-person",
      refresh: "r",
      expires: Date.now() + 1e9,
    },
    "openai:api": { type: "api_key", provider: "openai", key: "sk-stored" },
  };
  writeFileSync(join(folder, "auth-profiles.json"), JSON.stringify({ version: 1, profiles }));
  assert.equal(remoteOf(choose({ provider: "openai" }, { env: all }))?.apiKey, "sk-stored");
  writeFileSync(
    join(folder, "auth-profiles.json"),
    JSON.stringify({ version: 1, profiles: { "openai:chat": profiles["openai:chat"] } }),
  );
  assert.match(choose({ provider: "openai" }).reason ?? "", /No API key/);
  rmSync(folder, { recursive: true });
});

test("the fallback has its own key and model and does not get the base URL of the first choice", () => {
  const chosen = choose(
    {
      provider: "openai",
      model: "mine",
      fallback: "gemini",
      remote: { baseUrl: "http://two/v1", apiKey: "sk-remote" },
    },
    { env: all },
  );
  assert.deepEqual(chosen.second, {
    provider: "gemini",
    remote: {
      model: "gemini-embedding-001",
      baseUrl: "https://generativelanguage.googleapis.com/v1beta",
      apiKey: "g-1",
      headers: {},
      hint: "agents.defaults.memorySearch.remote",
    },
  });
  assert.equal(choose({ provider: "openai", fallback: "openai" }, { env: all }).second, undefined);
  const spare = choose({ provider: "voyage", fallback: "openai" }, { env: { OPENAI_API_KEY: "sk-o" } });
  assert.deepEqual([spare.first, spare.second?.provider], [undefined, "openai"]);
});

test("skips an unusable custom model file in automatic choice, and reports it when configured by name", () => {
  const gguf = join(state, "model.gguf");
  writeFileSync(gguf, "");
  assert.equal(choose({ local: { modelPath: gguf } }, { env: all }).first?.provider, "openai");
  if (hasExtra) assert.match(choose({ provider: "local", local: { modelPath: gguf } }).reason ?? "", /Ollama/);
});
