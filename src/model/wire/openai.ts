// OpenAI itself: the Responses API, or chat completions where configured.
import { plainCallId, type Dialect, type Wire, type WireSettings } from "../wire.ts";

export async function loadOpenAI(settings: WireSettings, api: "responses" | "chat"): Promise<Wire> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const { modelId, baseUrl, credential, headers } = settings;
  return {
    dialect: api === "responses" ? responses : chat,
    open(fetch) {
      const vendor = createOpenAI({
        ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
        // Never undefined, because the package would then read the environment.
        apiKey: credential?.value ?? "none",
        headers,
        fetch,
      });
      return api === "responses" ? vendor.responses(modelId) : vendor.chat(modelId);
    },
    options: ({ thinking, cacheKey, settings }, facts) => ({
      ...(facts.reasoning ? { reasoning: thinking === "off" ? "none" : thinking } : {}),
      providerOptions: {
        openai: {
          promptCacheKey: cacheKey,
          store: false,
          ...(settings?.singleCall === true ? { parallelToolCalls: false } : {}),
          ...(api === "responses" && facts.reasoning && thinking !== "off" ? { reasoningSummary: "auto" } : {}),
        },
      },
    }),
  };
}

const chat: Dialect = {
  name: "openai-chat",
  imagesInResults: false,
  userFirst: false,
  mergeUsers: false,
  callId: plainCallId,
};

const responses: Dialect = { ...chat, name: "openai-responses", imagesInResults: true };
