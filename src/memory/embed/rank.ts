// One list out of two: what was found by words and what was found by meaning.
import type { Rank, Ranked } from "./embedder.ts";

/**
 * The weighted sum of both scores, each as it is. Both scores must be known for every candidate: models differ in how
 * near they see unrelated texts, and a missing nearness taken for 0 would drown whatever only the words found.
 * Measured by bench/recall.ts, also against ranks (1/(1+rank), reciprocal) and scores stretched to 0..1: those lose.
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
