// One list out of two: what was found by words and what was found by meaning.
import type { Rank, Ranked } from "./embedder.ts";

export const rank: Rank = (text, vector, weights) => {
  const sum = weights.text + weights.vector;
  const share = sum > 0 ? { text: weights.text / sum, vector: weights.vector / sum } : { text: 0.5, vector: 0.5 };
  if (vector.length === 0) return text;
  if (text.length === 0) return vector;
  const words = new Map(text.map(({ id, score }) => [id, score]));
  const meaning = new Map(vector.map(({ id, score }) => [id, score]));
  return [...new Set([...words.keys(), ...meaning.keys()])]
    .map((id): Ranked => ({ id, score: share.text * (words.get(id) ?? 0) + share.vector * (meaning.get(id) ?? 0) }))
    .toSorted((left, right) => right.score - left.score || left.id - right.id);
};
