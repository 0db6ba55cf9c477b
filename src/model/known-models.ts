// Context windows and prices of well-known models; other models work with cautious assumptions.
import type { ModelFacts } from "./model.ts";

type Price = readonly [input: number, output: number, cacheRead: number, cacheWrite: number];

const model = (name: string, contextWindow: number, maxTokens: number, price: Price, reasoning = true): ModelFacts => ({
  name,
  contextWindow,
  maxTokens,
  reasoning,
  input: ["text", "image"],
  cost: { input: price[0], output: price[1], cacheRead: price[2], cacheWrite: price[3] },
});

export const knownModels: Readonly<Record<string, Readonly<Record<string, ModelFacts>>>> = {
  anthropic: {
    "claude-opus-4-6": model("Claude Opus 4.6", 200_000, 128_000, [5, 25, 0.5, 6.25]),
    "claude-opus-4-5": model("Claude Opus 4.5", 200_000, 64_000, [5, 25, 0.5, 6.25]),
    "claude-sonnet-4-5": model("Claude Sonnet 4.5", 200_000, 64_000, [3, 15, 0.3, 3.75]),
    "claude-haiku-4-5": model("Claude Haiku 4.5", 200_000, 64_000, [1, 5, 0.1, 1.25]),
  },
  openai: {
    "gpt-5.2": model("GPT-5.2", 400_000, 128_000, [1.75, 14, 0.175, 0]),
    "gpt-5.1": model("GPT-5.1", 400_000, 128_000, [1.25, 10, 0.125, 0]),
    "gpt-5": model("GPT-5", 400_000, 128_000, [1.25, 10, 0.125, 0]),
    "gpt-5-mini": model("GPT-5 mini", 400_000, 128_000, [0.25, 2, 0.025, 0]),
    "gpt-5-nano": model("GPT-5 nano", 400_000, 128_000, [0.05, 0.4, 0.005, 0]),
    "gpt-4.1": model("GPT-4.1", 1_047_576, 32_768, [2, 8, 0.5, 0], false),
    "gpt-4.1-mini": model("GPT-4.1 mini", 1_047_576, 32_768, [0.4, 1.6, 0.1, 0], false),
    "gpt-4o": model("GPT-4o", 128_000, 16_384, [2.5, 10, 1.25, 0], false),
    "gpt-4o-mini": model("GPT-4o mini", 128_000, 16_384, [0.15, 0.6, 0.075, 0], false),
    "o4-mini": model("o4-mini", 200_000, 100_000, [1.1, 4.4, 0.275, 0]),
  },
  google: {
    "gemini-3-pro-preview": model("Gemini 3 Pro", 1_048_576, 65_536, [2, 12, 0.2, 0]),
    "gemini-3-flash-preview": model("Gemini 3 Flash", 1_048_576, 65_536, [0.5, 3, 0.05, 0]),
    "gemini-2.5-pro": model("Gemini 2.5 Pro", 1_048_576, 65_536, [1.25, 10, 0.125, 0]),
    "gemini-2.5-flash": model("Gemini 2.5 Flash", 1_048_576, 65_536, [0.3, 2.5, 0.03, 0]),
    "gemini-2.5-flash-lite": model("Gemini 2.5 Flash-Lite", 1_048_576, 65_536, [0.1, 0.4, 0.01, 0]),
  },
  openrouter: { "openrouter/auto": model("OpenRouter Auto", 200_000, 8192, [0, 0, 0, 0], false) },
};

/** For an unknown model: the vendor's usual abilities, cautious sizes, no price. */
export function assumedFacts(provider: string, id: string, contextWindow?: number): ModelFacts {
  const isVendor = provider === "anthropic" || provider === "google" || provider === "openai";
  const thinks = isVendor && !/gpt-[34]|claude-3-(haiku|opus|sonnet)|gemini-(1|2\.0)/.test(id);
  const window = contextWindow ?? (isVendor || provider === "openrouter" ? 200_000 : 32_768);
  return {
    name: id,
    contextWindow: window,
    maxTokens: Math.min(8192, Math.max(1, Math.floor(window / 2))),
    reasoning: thinks,
    input: isVendor ? ["text", "image"] : ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    ...(isVendor || provider === "openrouter" ? { unpriced: true as const } : {}),
  };
}
