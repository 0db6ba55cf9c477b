// Well-known model providers: base URL, protocol and the variable with the API key.
import type { ModelApi } from "../core/model-api.ts";

export interface KnownProvider {
  readonly api: ModelApi;
  /** Undefined when the vendor's package has it. */
  readonly baseUrl?: string;
  readonly envKeys: readonly string[];
  /** Runs on this machine and usually needs no key. */
  readonly isLocal?: boolean;
}

const compatible = (baseUrl: string, ...envKeys: string[]): KnownProvider => ({
  api: "openai-completions",
  baseUrl,
  envKeys,
});
const local = (port: number, ...envKeys: string[]): KnownProvider => ({
  ...compatible(`http://127.0.0.1:${port}/v1`, ...envKeys),
  isLocal: true,
});

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  anthropic: { api: "anthropic-messages", envKeys: ["ANTHROPIC_API_KEY"] },
  openai: { api: "openai-responses", envKeys: ["OPENAI_API_KEY"] },
  google: { api: "google-generative-ai", envKeys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"] },
  openrouter: compatible("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
  groq: compatible("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
  xai: compatible("https://api.x.ai/v1", "XAI_API_KEY"),
  mistral: compatible("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
  cerebras: compatible("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
  zai: compatible("https://api.z.ai/api/paas/v4", "ZAI_API_KEY", "Z_AI_API_KEY"),
  moonshot: compatible("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
  venice: compatible("https://api.venice.ai/api/v1", "VENICE_API_KEY"),
  "vercel-ai-gateway": compatible("https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY"),
  ollama: local(11_434, "OLLAMA_API_KEY"),
  lmstudio: local(1234),
  vllm: local(8000),
};

/** The config of a server of the owner's own, with its first model. */
export function newServer(baseUrl: string, model: string): ModelServer {
  return { baseUrl, api: "openai-completions", models: [{ id: model, name: model }] };
}

interface ModelServer {
  readonly baseUrl: string;
  readonly api: ModelApi;
  readonly models: readonly { readonly id: string; readonly name: string }[];
}

/** The order of docs/decisions/0026-models-are-found.md, with the default model of each provider. */
export const firstChoices: readonly { readonly provider: string; readonly id: string }[] = [
  { provider: "anthropic", id: "claude-opus-4-6" },
  { provider: "openai", id: "gpt-5.2" },
  { provider: "google", id: "gemini-3-pro-preview" },
  { provider: "openrouter", id: "openrouter/auto" },
];

/** Built-in aliases; they apply only to models in `agents.defaults.models`. */
export const usualAliases: Readonly<Record<string, string>> = {
  opus: "anthropic/claude-opus-4-6",
  sonnet: "anthropic/claude-sonnet-4-5",
  gpt: "openai/gpt-5.2",
  "gpt-mini": "openai/gpt-5-mini",
  gemini: "google/gemini-3-pro-preview",
  "gemini-flash": "google/gemini-3-flash-preview",
};
