// Which `byProvider` key applies to a model.
import assert from "node:assert/strict";
import { test } from "node:test";

import { providerKey } from "./provider.ts";

const cases: [name: string, keys: string[], model: string, key: string | undefined][] = [
  ["no key matches", ["openai", "google/x"], "anthropic/claude", undefined],
  ["the model before the provider", ["openai", "openai/gpt-5.2"], "openai/gpt-5.2", "openai/gpt-5.2"],
  ["in any order", ["openai/gpt-5.2", "openai"], "openai/gpt-5.2", "openai/gpt-5.2"],
  ["in any case, with blanks around", [" OpenAI / GPT-5.2 "], "openai/gpt-5.2", " OpenAI / GPT-5.2 "],
  ["another model of the provider", ["openai/gpt-5.2"], "openai/gpt-5-mini", undefined],
  [
    "only the first slash splits",
    ["openrouter/moonshotai/kimi-k2"],
    "openrouter/moonshotai/kimi-k2",
    "openrouter/moonshotai/kimi-k2",
  ],
  ["a vendor inside a model name is not the provider", ["moonshotai"], "openrouter/moonshotai/kimi-k2", undefined],
  ["a longer provider name is another provider", ["open"], "openai/gpt-5.2", undefined],
  ["another spelling in the key", ["z.ai"], "zai/glm-5", "z.ai"],
  ["another spelling in the model", ["zai"], "Z-AI/glm-5", "zai"],
  ["another provider of the same vendor (attack POL-007)", ["openai"], "openai-codex/gpt-5.2", "openai"],
  ["the vendor's rule for the model", ["openai-codex", "openai/gpt-5.2"], "openai-codex/gpt-5.2", "openai/gpt-5.2"],
  ["the provider's own rule first", ["openai", "openai-codex"], "openai-codex/gpt-5.2", "openai-codex"],
  ["a rule for one provider does not apply to the vendor", ["openai-codex"], "openai/gpt-5.2", undefined],
  ["Antigravity is a provider of Google", ["google"], "google-antigravity/gemini-3-pro", "google"],
  ["the first of two spellings", ["OpenAI", "openai"], "openai/gpt-5.2", "OpenAI"],
  ["a model without a provider", ["openai"], "gpt-5.2", undefined],
  ["confusable letters", ["оpenai"], "openai/gpt-5.2", undefined],
  ["keys of objects", ["__proto__", "constructor"], "constructor/x", "constructor"],
];

for (const [name, keys, model, key] of cases) {
  void test(name, () => assert.equal(providerKey(keys, model), key));
}
