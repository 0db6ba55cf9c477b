// The protocols that model services speak.

/** Those that a vendor wire exists for (src/model/wire). */
export const modelApis = [
  "openai-completions",
  "openai-responses",
  "anthropic-messages",
  "google-generative-ai",
] as const;
export type ModelApi = (typeof modelApis)[number];

/** What a config may name: published clients write two protocols that are not built yet. */
export const configuredModelApis = [...modelApis, "bedrock-converse-stream", "github-copilot"] as const;

export function isModelApi(api: string): api is ModelApi {
  return (modelApis as readonly string[]).includes(api);
}
