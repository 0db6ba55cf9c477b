// The stored form of vectors: 32-bit floats of length 1, little-endian bytes in the database.
import { EmbedError } from "./embedder.ts";

/** Scaled to length 1, so that the dot product is the cosine; a zero vector stays zero. */
export function toVector(values: unknown): Float32Array {
  if (!Array.isArray(values) && !(values instanceof Float32Array))
    throw new EmbedError("garbled", "an embedding is not a list of numbers");
  if (Array.isArray(values) && values.some((value) => typeof value !== "number"))
    throw new EmbedError("garbled", "an embedding contains a value that is not a number");
  const vector = Float32Array.from(values as ArrayLike<number>);
  if (vector.length === 0) throw new EmbedError("garbled", "an embedding is empty");
  const length = Math.sqrt(dot(vector, vector));
  if (!Number.isFinite(length)) throw new EmbedError("garbled", "an embedding contains a value that is not a number");
  return length === 0 ? vector : vector.map((value) => value / length);
}

/** As many as requested, all of one size. */
export function toVectors(rows: unknown, count: number): Float32Array[] {
  if (!Array.isArray(rows) || rows.length !== count)
    throw new EmbedError(
      "garbled",
      `requested ${count} embeddings and received ${Array.isArray(rows) ? rows.length : 0}`,
    );
  const vectors = rows.map((row) => toVector(row));
  if (vectors.some(({ length }) => length !== vectors[0]?.length))
    throw new EmbedError("garbled", "the embeddings of one response differ in size");
  return vectors;
}

export function dot(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  const size = Math.min(left.length, right.length);
  for (let at = 0; at < size; at += 1) sum += (left[at] ?? 0) * (right[at] ?? 0);
  return sum;
}

export const isZero = (vector: Float32Array): boolean => vector.every((value) => value === 0);

export function toBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** Copies only when the bytes are not aligned for floats. */
export function fromBytes(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteLength - (bytes.byteLength % 4);
  if (bytes.byteOffset % 4 === 0) return new Float32Array(bytes.buffer, bytes.byteOffset, whole / 4);
  return new Float32Array(bytes.slice(0, whole).buffer);
}

/** The mean of several vectors, normalized to length 1. */
export function meanOf(vectors: readonly Float32Array[]): Float32Array {
  const [first] = vectors;
  if (first === undefined) throw new EmbedError("garbled", "an embedding is empty");
  if (vectors.length === 1) return first;
  const sum = new Float32Array(first.length);
  for (const vector of vectors) for (const [at, value] of vector.entries()) sum[at] = (sum[at] ?? 0) + value;
  return toVector(sum);
}
