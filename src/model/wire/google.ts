// Google's generateContent: thought signatures, calls and results by name.
import { plainCallId, type Dialect, type Wire, type WireSettings } from "../wire.ts";

export async function loadGoogle(settings: WireSettings): Promise<Wire> {
  const { createGoogle } = await import("@ai-sdk/google");
  const { modelId, baseUrl, credential, headers } = settings;
  return {
    dialect,
    open: (fetch) =>
      createGoogle({
        ...(baseUrl === undefined ? {} : { baseURL: baseUrl.replace(/\/+$/, "") }),
        apiKey: credential?.value ?? "none",
        headers: { ...headers },
        fetch,
      }).languageModel(modelId),
    options: ({ thinking }, facts) =>
      facts.reasoning
        ? {
            reasoning: thinking === "off" ? "none" : thinking,
            ...(thinking === "off"
              ? {}
              : { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } }),
          }
        : {},
  };
}

const dialect: Dialect = {
  name: "google",
  imagesInResults: true,
  userFirst: true,
  mergeUsers: true,
  wholeCalls: true,
  callId: plainCallId,
};
