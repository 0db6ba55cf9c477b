// Servers that speak chat completions: OpenRouter, Ollama, LM Studio, vLLM and whatever the config names.
import { createHash } from "node:crypto";

import { plainCallId, type Dialect, type Wire, type WireSettings } from "../wire.ts";

export async function loadOpenAICompatible(settings: WireSettings): Promise<Wire> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const { provider, modelId, baseUrl, credential, headers } = settings;
  return {
    dialect: provider === "mistral" ? { ...dialect, callId: nineLetters } : dialect,
    open: (fetch) =>
      createOpenAICompatible({
        name: "compatible",
        baseURL: baseUrl ?? "",
        ...(credential === undefined ? {} : { apiKey: credential.value }),
        headers,
        includeUsage: true,
        supportsStructuredOutputs: true,
        fetch,
      }).chatModel(modelId),
    // "none" is a word few of these servers know: not to think is not to ask for it.
    options: ({ thinking, settings }, facts) => ({
      ...(facts.reasoning && thinking !== "off" ? { reasoning: thinking } : {}),
      ...(settings?.singleCall === true ? { providerOptions: { compatible: { parallel_tool_calls: false } } } : {}),
    }),
  };
}

const dialect: Dialect = {
  name: "openai-compatible",
  imagesInResults: false,
  userFirst: false,
  mergeUsers: false,
  callId: plainCallId,
};

/** Mistral takes exactly nine letters or digits. */
function nineLetters(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, 9);
}
