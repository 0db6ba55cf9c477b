// A question answered by words and meaning together, over one index.
import type { Ranked, Vectors } from "./embedder.ts";
import { rank } from "./rank.ts";

export interface HybridQuestion {
  readonly vector: Float32Array;
  /** Candidates from each half. */
  readonly limit: number;
  readonly weights: { readonly text: number; readonly vector: number };
  /** The half that knows words: the best so many. */
  readonly byWords: (limit: number) => readonly Ranked[];
}

/** What meaning found may stand further down among the words: its score there counts, too. */
const scoredBeyond = 8;

/** Every candidate gets both its scores: a missing one taken for 0 would favour the other half. */
export function byBoth(table: Vectors, { vector, limit, weights, byWords }: HybridQuestion): readonly Ranked[] {
  const words = byWords(limit * scoredBeyond);
  const candidates = words.slice(0, limit);
  const nearness = table.nearness(
    vector,
    candidates.map(({ id }) => id),
  );
  return rank(candidates, table.search(vector, limit), weights, { text: words, vector: nearness });
}
