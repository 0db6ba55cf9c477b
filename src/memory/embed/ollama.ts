// Embeddings from an Ollama server by /api/embed.
import { inBatches } from "./batches.ts";
import { EmbedError, type Embedder, type EmbedKind } from "./embedder.ts";
import { endpointOf, rootOf, type RemoteSettings } from "./openai.ts";
import { askForVectors } from "./request.ts";
import { toVectors } from "./vector.ts";

const limits = { maxTexts: 32, maxBytes: 100_000, concurrency: 1 };

export function createOllama(settings: RemoteSettings): Embedder {
  const { model, apiKey } = settings;
  // Configured URLs often have the path of the compatible API (/v1), which is removed.
  const baseUrl = rootOf(settings.baseUrl).replace(/\/v1$/, "");
  const key: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const endpoint = endpointOf("ollama", { ...settings, baseUrl }, "/api/embed", key);
  return {
    provider: "ollama",
    model,
    fingerprint: `ollama|${model}|${baseUrl}`,
    stride: 32,
    embed: (texts, kind, signal) =>
      inBatches(texts, limits, async (batch) => {
        const input = batch.map((text) => `${prefixOf(model, kind)}${text}`);
        const answer = await askForVectors(endpoint, { model, input }, kind, signal);
        const { embeddings } = (answer ?? {}) as { embeddings?: unknown };
        if (!Array.isArray(embeddings)) throw new EmbedError("garbled", "ollama: the response has no embeddings");
        return toVectors(embeddings, batch.length);
      }),
    async close() {},
  };
}

/** Prefixes that these models were trained with; the server does not add them. */
function prefixOf(model: string, kind: EmbedKind): string {
  const name = model.slice(model.lastIndexOf("/") + 1);
  if (name.startsWith("nomic-embed-text")) return kind === "query" ? "search_query: " : "search_document: ";
  if (name.startsWith("embeddinggemma"))
    return kind === "query" ? "task: search result | query: " : "title: none | text: ";
  if (name.startsWith("mxbai-embed") && kind === "query")
    return "Represent this sentence for searching relevant passages: ";
  return "";
}
