// Answers a query by text search and semantic search together, over one index.
import type { Ranked, Vectors } from "./embedder.ts";
import { rank } from "./rank.ts";

export interface HybridQuestion {
  readonly vector: Float32Array;
  /** Candidates from each half. */
  readonly limit: number;
  readonly weights: { readonly text: number; readonly vector: number };
  /** Text search: the best candidates. */
  readonly byWords: (limit: number) => readonly Ranked[];
}

/** A chunk found by semantic search may rank lower in text search: its text score counts, too. */
const scoredBeyond = 8;

/** Every candidate gets both scores: a missing one counted as 0 would favor the other search. */
export function byBoth(table: Vectors, { vector, limit, weights, byWords }: HybridQuestion): readonly Ranked[] {
  const words = byWords(limit * scoredBeyond);
  const candidates = words.slice(0, limit);
  const nearness = table.nearness(
    vector,
    candidates.map(({ id }) => id),
  );
  return rank(candidates, table.search(vector, limit), weights, { text: words, vector: nearness });
}
