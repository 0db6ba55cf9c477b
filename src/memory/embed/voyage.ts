// Embeddings from Voyage: the shape of OpenAI, with the kind of text said.
import type { Embedder } from "./embedder.ts";
import { openAILike, type RemoteSettings } from "./openai.ts";

/** 1000 texts and, for the largest models, 120,000 tokens at once. */
const limits = { maxTexts: 128, maxBytes: 240_000 };

export function createVoyage(settings: RemoteSettings): Embedder {
  return openAILike("voyage", settings, limits, (model, input, kind) => ({
    model,
    input,
    input_type: kind === "query" ? "query" : "document",
  }));
}
