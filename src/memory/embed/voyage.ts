// Embeddings from Voyage: OpenAI's format plus the kind of text.
import type { Embedder } from "./embedder.ts";
import { openAILike, type RemoteSettings } from "./openai.ts";

/** 1000 texts per request and, for the largest models, 120,000 tokens. */
const limits = { maxTexts: 128, maxBytes: 240_000 };

export function createVoyage(settings: RemoteSettings): Embedder {
  return openAILike("voyage", settings, limits, (model, input, kind) => ({
    model,
    input,
    input_type: kind === "query" ? "query" : "document",
  }));
}
