// Merges the results of text search and semantic search into one list.
import type { Rank, Ranked } from "./embedder.ts";

/**
 * The weighted sum of both raw scores. Both scores must be known for every candidate: models differ in how similar they
 * rate unrelated texts, and a missing similarity counted as 0 would hide results that only text search found. Measured
 * by bench/recall.ts, also against ranks (1/(1+rank), reciprocal) and normalized scores, which do worse.
 */
export const rank: Rank = (text, vector, weights, known = { text: [], vector: [] }) => {
  if (vector.length === 0) return text;
  const share = sharesOf(weights);
  const words = scoresOf([...known.text, ...text]);
  const meaning = scoresOf([...known.vector, ...vector]);
  const candidates = new Set([...text, ...vector].map(({ id }) => id));
  return [...candidates]
    .map((id): Ranked => ({ id, score: share.text * (words.get(id) ?? 0) + share.vector * (meaning.get(id) ?? 0) }))
    .toSorted((left, right) => right.score - left.score || left.id - right.id);
};

function sharesOf({ text, vector }: { readonly text: number; readonly vector: number }): typeof usual {
  const sum = text + vector;
  return sum > 0 ? { text: text / sum, vector: vector / sum } : usual;
}

const usual = { text: 0.3, vector: 0.7 };

const scoresOf = (list: readonly Ranked[]): ReadonlyMap<number, number> =>
  new Map(list.map(({ id, score }) => [id, score]));
