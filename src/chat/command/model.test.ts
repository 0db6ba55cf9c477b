// /model and /new: the model of a session, and new sessions.
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import type { Config } from "../../config/schema/index.ts";
import { key, models, openChat, turn } from "../fixture.cases.ts";

describe("/model", () => {
  const listed: Config = {
    agents: { defaults: { models: { "openai/gpt-5.2": { alias: "Fast" }, "anthropic/claude": {}, "groq/llama": {} } } },
  };

  test("lists models by number", async () => {
    const chat = await openChat({ models, config: listed });
    assert.equal(
      await chat.answer("/model"),
      [
        "Models:",
        "1. openai/gpt-5.2 (Fast, in use)",
        "2. anthropic/claude",
        "3. groq/llama (no key)",
        "Choose with /model <number> or /model <provider/model>.",
      ].join("\n"),
    );
    assert.equal(await chat.answer("/models list"), await chat.answer("/model"));
  });

  const chosen: readonly (readonly [message: string, provider: string, id: string])[] = [
    ["/model 2", "anthropic", "claude"],
    ["/model anthropic/claude", "anthropic", "claude"],
    ["/model ANTHROPIC/Claude", "anthropic", "claude"],
    ["/model fast", "openai", "gpt-5.2"],
    ["/fast", "openai", "gpt-5.2"],
    ["/model claude", "anthropic", "claude"],
    ["/model 3", "groq", "llama"],
  ];
  for (const [message, provider, id] of chosen) {
    test(message, async () => {
      const chat = await openChat({ models, config: listed });
      assert.match(await chat.answer(message), new RegExp(`^This session now uses ${provider}/${id}\\.`));
      assert.deepEqual(await chat.entry(), { providerOverride: provider, modelOverride: id });
    });
  }

  const refused: readonly (readonly [message: string, config: Config, answer: RegExp])[] = [
    ["/model openai/mini", listed, /^Model "openai\/mini" is not allowed\. Use \/model to list available models\.$/],
    ["/model 9", listed, /no model number 9\. \/model lists 1 to 3/],
    ["/model 0", listed, /no model number 0/],
    ["/model cluade", listed, /No model is called "cluade"\. Did you mean claude\?/],
    ["/model nowhere/thing", {}, /No model is called "nowhere\/thing"/],
    ["/model openai/mini@work", {}, /cannot be chosen with @/],
  ];
  for (const [message, config, answer] of refused) {
    test(`rejects ${message}`, async () => {
      const chat = await openChat({ models, config });
      assert.match(await chat.answer(message), answer);
      assert.deepEqual(await chat.entry(), {});
    });
  }

  test("allows the default model also when it is not listed", async () => {
    const config: Config = { agents: { defaults: { models: { "anthropic/claude": {} } } } };
    const chat = await openChat({ models, config });
    assert.match(await chat.answer("/model"), /1\. anthropic\/claude\n2\. openai\/gpt-5\.2 \(in use\)\nChoose/);
    assert.match(await chat.answer("/model openai/gpt-5.2"), /now uses openai\/gpt-5\.2/);
    assert.match(await chat.answer("/model openai/mini"), /is not allowed/);
  });

  test("allows any model of a known provider without an allowlist", async () => {
    const chat = await openChat({ models, keyless: ["groq/llama"] });
    await chat.answer("/model openai/brand-new");
    assert.deepEqual(await chat.entry(), { providerOverride: "openai", modelOverride: "brand-new" });
    assert.match(await chat.answer("/model groq/llama"), /No API key found for provider "groq"\./);
  });

  test("shows and clears the choice", async () => {
    const chat = await openChat({ models });
    await chat.answer("/model anthropic/claude");
    assert.equal(
      await chat.answer("/model status"),
      "Model: anthropic/claude (chosen for this session)\nDefault: openai/gpt-5.2",
    );
    assert.equal(await chat.answer("/model default"), "This session uses the default model again: openai/gpt-5.2.");
    assert.deepEqual(await chat.entry(), {});
  });

  test("sends the message to no model when the named one is not allowed", async () => {
    const chat = await openChat({ models, config: listed });
    assert.match(await chat.answer("hi /model openai/mini"), /is not allowed[^]*was not sent to a model/);
  });

  test("explains how to add a model when there is none", async () => {
    const chat = await openChat();
    for (const message of ["/model", "/model status", "/model default"]) {
      assert.match(await chat.answer(message), /openclaw configure --section model/);
    }
  });
});

describe("/new and /reset", () => {
  test("start a new transcript and keep the chosen model", async () => {
    const chat = await openChat({ models, running: ["old"] });
    await chat.answer("/think high /model 2");
    const before = await chat.store.sessions.get(key);
    const directed = await chat.say("/new tell me a joke");
    const after = await chat.store.sessions.get(key);
    assert.deepEqual(directed, turn("tell me a joke", {}, ["New session."]));
    assert.notEqual(after?.sessionId, before?.sessionId);
    assert.deepEqual(
      { thinking: after?.entry["thinkingLevel"], model: after?.entry["modelOverride"] },
      { thinking: "high", model: "claude" },
    );
    assert.deepEqual(chat.asked, ["abort old: a new session was started"]);
  });

  const cases: readonly (readonly [message: string, text: RegExp, override: string | undefined])[] = [
    ["/new", /Greet them/, undefined],
    ["/reset", /Greet them/, undefined],
    ["/new anthropic/claude", /Greet them/, "claude"],
    ["/new mini write a poem", /^write a poem$/, "mini"],
    ["/new anthropic", /Greet them/, "claude"],
    ["/new anthropic is a company", /^anthropic is a company$/, undefined],
    ["/new hello", /^hello$/, undefined],
    ["let's begin", /Greet them/, undefined],
    ["let's begin with mini", /^with mini$/, undefined],
  ];
  for (const [message, text, override] of cases) {
    test(message, async () => {
      const chat = await openChat({ models, config: { session: { resetTriggers: ["let's begin"] } } });
      const directed = await chat.say(message);
      assert.equal(directed.kind, "turn");
      assert.match(directed.text, text);
      assert.equal(directed.source, text.source === "Greet them" ? "new" : undefined);
      assert.equal((await chat.entry())["modelOverride"], override);
    });
  }

  test("are answered by the gateway without a model", async () => {
    const chat = await openChat();
    assert.equal(await chat.answer("/new"), "New session.");
  });
});
