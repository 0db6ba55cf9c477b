// The choice of models and credentials, with real files, real loopback servers and a fixed clock.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { fail, say, startFakeOpenAI } from "../../test/fakes/openai.ts";
import type { Log } from "../base/log.ts";
import type { Env } from "../base/paths.ts";
import type { Config } from "../config/schema/index.ts";
import { createModelBook } from "./book.ts";
import { aliasesOf, isModelAllowed, parseModelRef } from "./catalog.ts";
import type { ModelBook } from "./model.ts";
import { createStreamModel } from "./retry.ts";
import { testModel } from "./test-model.ts";

const roots: string[] = [];
after(() => roots.forEach((root) => rmSync(root, { recursive: true, force: true })));
const quiet: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => quiet };

interface Desk {
  readonly book: ModelBook;
  readonly profiles: string;
  readonly clock: { at: number };
  readonly state: string;
}

function broker(config: Config, env: Env = {}, stored?: unknown): Desk {
  const state = mkdtempSync(join(tmpdir(), "book-"));
  roots.push(state);
  const clock = { at: Date.UTC(2026, 0, 1) };
  const profiles = join(state, "agents/main/agent/auth-profiles.json");
  if (stored !== undefined) {
    mkdirSync(dirname(profiles), { recursive: true });
    writeFileSync(profiles, typeof stored === "string" ? stored : JSON.stringify(stored));
  }
  const book = createModelBook({
    config: () => config,
    env: { OPENCLAW_DISCOVERY_PORTS: "off", ...env },
    paths: { home: state, state, config: join(state, "openclaw.json"), product: "openclaw", profile: undefined },
    clock: { now: () => clock.at, ticks: () => performance.now() },
    log: quiet,
  });
  return { book, profiles, clock, state };
}

const signal = new AbortController().signal;

test("resolves names: aliases, default provider, letter case, pins, allowlist", () => {
  const config: Config = {
    agents: { defaults: { models: { "anthropic/claude-opus-4-6": {}, "openai/gpt-5-mini": { alias: "Small" } } } },
    models: { providers: { local: { baseUrl: "http://127.0.0.1:1/v1", models: [{ id: "Qwen-Big" }] } } },
  };
  const parse = (text: string) => parseModelRef(text, config);
  assert.deepEqual(parse("opus"), { provider: "anthropic", id: "claude-opus-4-6" });
  assert.deepEqual(parse("small"), { provider: "openai", id: "gpt-5-mini" });
  assert.deepEqual(parse("claude-x"), { provider: "anthropic", id: "claude-x" });
  assert.deepEqual(parse("LOCAL/qwen-big"), { provider: "local", id: "Qwen-Big" });
  assert.deepEqual(parse("openrouter/meta/llama@work"), { provider: "openrouter", id: "meta/llama", profile: "work" });
  assert.deepEqual([parse(""), parse("a/")], [undefined, undefined]);
  assert.equal(aliasesOf(config).has("gpt"), false, "usual aliases need their model in the list");
  assert.equal(isModelAllowed(config, { provider: "openai", id: "gpt-5-mini" }), true);
  assert.equal(isModelAllowed(config, { provider: "openai", id: "gpt-5.2" }), false);
  assert.equal(isModelAllowed({}, { provider: "x", id: "y" }), true);
});

test("orders candidates: primary, fallbacks, the agent's own, override first and primary last", async () => {
  const { book } = broker({
    agents: {
      defaults: { model: { primary: "openai/gpt-5.2", fallbacks: ["anthropic/claude-sonnet-4-5"] } },
      list: [
        { id: "main" },
        { id: "work", model: "google/gemini-2.5-pro" },
        { id: "alone", model: { primary: "openai/o4-mini", fallbacks: [] } },
      ],
    },
  });
  const names = async (agentId: string, override?: { provider: string; id: string }) =>
    (await book.candidates({ agentId, override })).map(({ id }) => id);
  assert.deepEqual(await names("main"), ["gpt-5.2", "claude-sonnet-4-5"]);
  assert.deepEqual(await names("work"), ["gemini-2.5-pro", "claude-sonnet-4-5"]);
  assert.deepEqual(await names("alone"), ["o4-mini"]);
  assert.deepEqual(await names("main", { provider: "x", id: "y" }), ["y", "claude-sonnet-4-5", "gpt-5.2"]);
});

test("without a config, uses keys of the environment in order, then a local server", async () => {
  const keyed = broker({}, { OPENAI_API_KEY: "sk-b", GEMINI_API_KEY: "g" });
  assert.deepEqual(await keyed.book.candidates({ agentId: "main" }), [{ provider: "openai", id: "gpt-5.2" }]);
  assert.deepEqual(await broker({}).book.candidates({ agentId: "main" }), []);
  const server = await startFakeOpenAI([say("ready")], { models: ["nomic-embed-text", "qwen3"] });
  const local = broker({}, { OPENCLAW_DISCOVERY_PORTS: `ollama=${server.port}` });
  const [found] = await local.book.candidates({ agentId: "main" });
  assert.deepEqual(found, { provider: "ollama", id: "qwen3" });
  assert.ok(found !== undefined);
  const result = await testModel(local.book, found, signal);
  assert.deepEqual(
    { ...result, latencyMs: 0, firstTokenMs: 0 },
    { ok: true, latencyMs: 0, firstTokenMs: 0, text: "ready" },
  );
  const ready = (await local.book.list())
    .filter((entry) => entry.ready)
    .map(({ provider, id, source }) => ({ provider, id, source }));
  assert.deepEqual(ready, [{ provider: "ollama", id: "qwen3", source: "found" }]);
  await server.close();
});

test("does not search for servers when there are keys or a config", async () => {
  const server = await startFakeOpenAI([say("x")]);
  const { book } = broker(
    { agents: { defaults: { model: "openai/gpt-5.2" } } },
    { OPENCLAW_DISCOVERY_PORTS: `vllm=${server.port}`, OPENAI_API_KEY: "k" },
  );
  await book.candidates({ agentId: "main" });
  await book.open({ provider: "openai", id: "gpt-5.2" }, "main");
  assert.equal(server.requests.length, 0);
  await server.close();
});

test("takes facts from the config entry, the known model, or a cautious guess", () => {
  const { book } = broker({
    models: {
      providers: {
        lab: {
          baseUrl: "http://127.0.0.1:1/v1",
          models: [{ id: "m", name: "M", contextWindow: 5000, maxTokens: 9000, cost: { input: 1 } }],
        },
      },
    },
  });
  assert.deepEqual(book.facts({ provider: "lab", id: "m" }), {
    name: "M",
    contextWindow: 5000,
    maxTokens: 5000,
    reasoning: false,
    input: ["text"],
    cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 },
  });
  assert.equal(book.facts({ provider: "anthropic", id: "claude-opus-4-6" }).cost.output, 25);
  assert.equal(book.facts({ provider: "ollama", id: "what" }).contextWindow, 32_768);
});

test("rotates profiles on 429, cools down for 1, 5, 25, 60 minutes, and stores that in the file", async () => {
  const server = await startFakeOpenAI((request) =>
    request.headers["authorization"] === "Bearer key-two-22222222" ? say("two") : fail(429),
  );
  const config: Config = {
    models: { providers: { openai: { baseUrl: server.url, api: "openai-completions", models: [{ id: "m" }] } } },
  };
  const stored = {
    version: 1,
    note: "kept",
    profiles: {
      "openai:one": { type: "api_key", provider: "openai", key: "key-one-\n11111111" },
      "openai:two": { type: "api_key", provider: "openai", key: "key-two-22222222" },
    },
    order: { openai: ["openai:one", "openai:two"] },
  };
  const { book, profiles, clock } = broker(config, {}, stored);
  const ref = { provider: "openai", id: "m" };
  const request = () => ({
    system: "",
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "x" }], timestamp: 0 }],
    tools: [],
    thinking: "off" as const,
    maxTokens: 9,
    cacheKey: "k",
  });
  const texts: string[] = [];
  for await (const event of createStreamModel(book)({ agentId: "main", override: ref, request, signal }))
    if (event.type === "text") texts.push(event.delta);
  assert.equal(texts.join(""), "two");
  assert.deepEqual(
    server.requests.map(({ headers }) => headers["authorization"]),
    ["Bearer key-one-11111111", "Bearer key-two-22222222"],
  );
  const file = JSON.parse(readFileSync(profiles, "utf8")) as {
    note: string;
    profiles: object;
    usageStats: Record<string, { cooldownUntil?: number; errorCount?: number }>;
  };
  assert.deepEqual([file.note, file.profiles], ["kept", stored.profiles]);
  assert.equal(file.usageStats["openai:one"]?.cooldownUntil, clock.at + 60_000);
  const waits: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    clock.at += 3_600_000;
    await book.report(ref, "main", { kind: "rate-limit", message: "" }, "openai:one");
    const stats = (JSON.parse(readFileSync(profiles, "utf8")) as typeof file).usageStats["openai:one"];
    waits.push(((stats?.cooldownUntil ?? 0) - clock.at) / 60_000);
  }
  assert.deepEqual(waits, [5, 25, 60, 60]);
  assert.equal((await book.open(ref, "main"))?.profile, "openai:two");
  await server.close();
});

test("billing failures cool down for 5 hours, then twice as long, at most 24; a day without failure resets it", async () => {
  const ref = { provider: "anthropic", id: "claude-sonnet-4-5" };
  const { book, clock, profiles } = broker(
    {},
    {},
    { profiles: { "anthropic:default": { type: "token", provider: "anthropic", token: "tok-123456" } } },
  );
  const hours: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    await book.report(ref, "main", { kind: "billing", message: "" }, "anthropic:default");
    const { usageStats } = JSON.parse(readFileSync(profiles, "utf8")) as {
      usageStats: Record<string, { disabledUntil: number }>;
    };
    hours.push(((usageStats["anthropic:default"]?.disabledUntil ?? 0) - clock.at) / 3_600_000);
    clock.at += round === 2 ? 25 * 3_600_000 : 3_600_000;
  }
  assert.deepEqual(hours, [5, 10, 20, 5]);
  assert.equal(await book.open(ref, "main"), undefined);
  assert.equal((await book.open(ref, "main", { resting: true }))?.profile, "anthropic:default");
  clock.at -= 48 * 3_600_000;
  assert.equal((await book.open(ref, "main"))?.profile, "anthropic:default", "the clock was set back");
});

test("leaves a broken profile file unchanged, and environment keys still work", async () => {
  const { book, profiles } = broker({}, { ANTHROPIC_API_KEY: "sk-ant-1" }, "{ broken");
  const ref = { provider: "anthropic", id: "claude-sonnet-4-5" };
  assert.equal((await book.open(ref, "main"))?.profile, "env:ANTHROPIC_API_KEY");
  await book.report(ref, "main", { kind: "auth", message: "" }, "env:ANTHROPIC_API_KEY");
  assert.equal(await book.open(ref, "main"), undefined);
  assert.equal(readFileSync(profiles, "utf8"), "{ broken");
});

test("opens no model for an expired login, an unknown protocol or a missing pinned profile", async () => {
  const { book, clock } = broker(
    {
      models: {
        providers: {
          rock: { baseUrl: "http://127.0.0.1:1", api: "bedrock-converse-stream", apiKey: "k", models: [{ id: "m" }] },
        },
      },
    },
    {},
    {
      profiles: { "openai:me": { type: "oauth", provider: "openai", access: "acc-1234567", refresh: "r", expires: 1 } },
    },
  );
  assert.ok(clock.at > 1);
  assert.equal(await book.open({ provider: "openai", id: "gpt-5.2" }, "main"), undefined);
  assert.equal(await book.open({ provider: "rock", id: "m" }, "main"), undefined);
  assert.equal(await book.open({ provider: "nobody", id: "m" }, "main"), undefined);
  assert.equal(await book.open({ provider: "openai", id: "gpt-5.2", profile: "openai:you" }, "main"), undefined);
});

test("reports why a model test failed", async () => {
  const server = await startFakeOpenAI([
    fail(401, { error: { message: "Incorrect API key provided", type: "invalid_request_error" } }),
  ]);
  const { book } = broker({
    models: { providers: { lab: { baseUrl: server.url, apiKey: "k-1234567", models: [{ id: "m" }] } } },
  });
  const result = await testModel(book, { provider: "lab", id: "m" }, signal);
  assert.ok(!result.ok);
  assert.equal(result.failure.kind, "auth");
  await server.close();
});
