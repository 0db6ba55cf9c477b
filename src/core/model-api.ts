// The protocols that model services speak.

/** Protocols with a vendor wire (src/model/wire). */
export const modelApis = [
  "openai-completions",
  "openai-responses",
  "anthropic-messages",
  "google-generative-ai",
] as const;
export type ModelApi = (typeof modelApis)[number];

/** Protocols that a config may name: two of them are known from published configs but not built yet. */
export const configuredModelApis = [...modelApis, "bedrock-converse-stream", "github-copilot"] as const;

export function isModelApi(api: string): api is ModelApi {
  return (modelApis as readonly string[]).includes(api);
}
