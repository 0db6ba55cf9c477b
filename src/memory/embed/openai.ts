// Embeddings from OpenAI and from every server with its /embeddings API.
import { inBatches, type BatchLimits } from "./batches.ts";
import { EmbedError, type Embedder, type EmbedKind } from "./embedder.ts";
import { askForVectors, type Endpoint } from "./request.ts";
import { toVectors } from "./vector.ts";

export interface RemoteSettings {
  readonly model: string;
  /** Base URL of the service, without the path of the call. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly hint: string;
  readonly patience?: Endpoint["patience"];
}

/** The service accepts 2048 texts and 300,000 tokens per request; smaller requests lose less on failure. */
const limits: BatchLimits = { maxTexts: 256, maxBytes: 400_000 };

export function createOpenAI(settings: RemoteSettings): Embedder {
  return openAILike("openai", settings, limits, (model, input) => ({ model, input }));
}

/** Voyage returns the same format and differs in its request. */
export function openAILike(
  provider: "openai" | "voyage",
  settings: RemoteSettings,
  size: BatchLimits,
  bodyOf: (model: string, input: readonly string[], kind: EmbedKind) => unknown,
): Embedder {
  const { model, baseUrl } = settings;
  const endpoint = endpointOf(provider, settings, "/embeddings", bearer(settings.apiKey));
  return {
    provider,
    model,
    fingerprint: `${provider}|${model}|${rootOf(baseUrl)}`,
    stride: 64,
    embed: (texts, kind, signal) =>
      inBatches(texts, size, async (batch) => {
        const answer = await askForVectors(endpoint, bodyOf(model, batch, kind), kind, signal);
        return toVectors(inOrder(answer, provider), batch.length);
      }),
    async close() {},
  };
}

export function endpointOf(
  provider: string,
  { baseUrl, headers, apiKey, hint, patience }: RemoteSettings,
  path: string,
  credential: Readonly<Record<string, string>>,
): Endpoint {
  // A configured header overrides ours, in any letter case.
  const own = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const ours = Object.fromEntries(Object.entries(credential).filter(([name]) => !own.has(name)));
  return {
    provider,
    url: `${rootOf(baseUrl)}${path}`,
    headers: { ...ours, ...headers },
    secret: apiKey,
    hint,
    ...(patience === undefined ? {} : { patience }),
  };
}

export const rootOf = (baseUrl: string): string => baseUrl.replace(/\/+$/, "");

function bearer(apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

/** `{data: [{index, embedding}]}`; the index gives the order. */
function inOrder(answer: unknown, provider: string): unknown[] {
  const { data } = (answer ?? {}) as { data?: unknown };
  if (!Array.isArray(data)) throw new EmbedError("garbled", `${provider}: the response has no embeddings`);
  const rows = data as readonly { readonly index?: unknown; readonly embedding?: unknown }[];
  const placed: unknown[] = [];
  for (const [at, row] of rows.entries()) placed[typeof row?.index === "number" ? row.index : at] = row?.embedding;
  return placed;
}
