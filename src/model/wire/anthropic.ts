// Anthropic's Messages API: thinking with signatures, cache marks on the prompt.
import { plainCallId, type Dialect, type Wire, type WireSettings } from "../wire.ts";

export async function loadAnthropic(settings: WireSettings): Promise<Wire> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const { modelId, baseUrl, credential, headers } = settings;
  const secret = credential?.value ?? "none";
  return {
    dialect,
    open: (fetch) =>
      createAnthropic({
        ...(baseUrl === undefined ? {} : { baseURL: versioned(baseUrl) }),
        ...(credential?.kind === "bearer" ? { authToken: secret } : { apiKey: secret }),
        headers,
        fetch,
      }).languageModel(modelId),
    options: ({ thinking, settings }, facts) => ({
      ...(facts.reasoning ? { reasoning: thinking === "off" ? "none" : thinking } : {}),
      providerOptions: {
        anthropic: { includePings: true, ...(settings?.singleCall === true ? { disableParallelToolUse: true } : {}) },
      },
    }),
  };
}

/** The recorded config has the base URL of the service; the package needs the version in it. */
function versioned(baseUrl: string): string {
  const root = baseUrl.replace(/\/+$/, "");
  return /\/v\d+$/.test(root) ? root : `${root}/v1`;
}

const dialect: Dialect = {
  name: "anthropic",
  imagesInResults: true,
  userFirst: true,
  mergeUsers: false,
  cacheMarks: "anthropic",
  thinkingNeedsReplay: true,
  thinkingIsFree: true,
  callId: plainCallId,
};
