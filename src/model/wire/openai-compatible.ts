// Servers with the chat completions API: OpenRouter, Ollama, LM Studio, vLLM and custom ones.
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
    // Few of these servers know "none", so reasoning is turned off by omitting the setting.
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

/** Mistral requires exactly nine letters or digits. */
function nineLetters(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, 9);
}
