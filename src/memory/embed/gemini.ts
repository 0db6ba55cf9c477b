// Embeddings from the Gemini API by batchEmbedContents.
import { inBatches } from "./batches.ts";
import type { Embedder, EmbedKind } from "./embedder.ts";
import { EmbedError } from "./embedder.ts";
import { endpointOf, rootOf, type RemoteSettings } from "./openai.ts";
import { askForVectors } from "./request.ts";
import { toVectors } from "./vector.ts";

const limits = { maxTexts: 100, maxBytes: 200_000 };
const taskOf: Readonly<Record<EmbedKind, string>> = { query: "RETRIEVAL_QUERY", passage: "RETRIEVAL_DOCUMENT" };

export function createGemini(settings: RemoteSettings): Embedder {
  const model = settings.model.replace(/^models\//, "");
  const key: Record<string, string> = settings.apiKey === undefined ? {} : { "x-goog-api-key": settings.apiKey };
  const endpoint = endpointOf("gemini", settings, `/models/${encodeURIComponent(model)}:batchEmbedContents`, key);
  return {
    provider: "gemini",
    model,
    fingerprint: `gemini|${model}|${rootOf(settings.baseUrl)}`,
    stride: 64,
    embed: (texts, kind, signal) =>
      inBatches(texts, limits, async (batch) => {
        const requests = batch.map((text) => ({
          model: `models/${model}`,
          content: { parts: [{ text }] },
          taskType: taskOf[kind],
        }));
        return readAnswer(await askForVectors(endpoint, { requests }, kind, signal), batch.length);
      }),
    async close() {},
  };
}

function readAnswer(answer: unknown, count: number): Float32Array[] {
  const { embeddings } = (answer ?? {}) as { embeddings?: unknown };
  if (!Array.isArray(embeddings)) throw new EmbedError("garbled", "gemini: the response has no embeddings");
  return toVectors(
    (embeddings as readonly { readonly values?: unknown }[]).map((entry) => entry?.values),
    count,
  );
}
