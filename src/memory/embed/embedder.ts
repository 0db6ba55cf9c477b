// The contract of embeddings, as memory uses them: texts in, unit vectors out, and a table of them beside the chunks.
import type { DatabaseSync } from "node:sqlite";

import type { AgentId } from "../../core/names.ts";
import type { VectorStatus } from "../memory.ts";

/** Lives in the main thread (keys, network) or drives a thread of its own; never blocks the event loop. */
export interface Embedder {
  readonly provider: string;
  readonly model: string;
  /** Provider, endpoint and model: vectors of different fingerprints are never compared. */
  readonly fingerprint: string;
  /** As many vectors as texts, each of length one. Rejects with HouseError `embed.*`; retries are inside. */
  embed(texts: readonly string[], kind: "query" | "passage", signal?: AbortSignal): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}

/** Opened once per agent and settings. No embedder is no error: then words alone answer, and `reason` says why. */
export interface OpenedEmbedder {
  readonly embedder?: Embedder;
  readonly reason?: string;
  /** The first choice failed and another one answers. */
  readonly fallback?: { readonly from: string; readonly reason: string };
}

export type OpenEmbedder = (agent: AgentId) => Promise<OpenedEmbedder>;

/** A chunk found by one of the two halves; `id` is `chunks.id`. */
export interface Ranked {
  readonly id: number;
  /** 0 to 1. */
  readonly score: number;
}

/**
 * The vector table of one index file, keyed by `chunks.hash`. Lives in the thread that owns the file; every call is
 * synchronous and short (bounded by its arguments).
 */
export interface Vectors {
  /** Chunks without a vector, each text once. */
  pending(limit: number): readonly { readonly hash: string; readonly text: string }[];
  put(rows: readonly { readonly hash: string; readonly vector: Float32Array }[]): void;
  /** Nearest chunks, best first. */
  search(query: Float32Array, limit: number): readonly Ranked[];
  status(): VectorStatus;
  /** Drops vectors no chunk has any more, down to the size of the cache. */
  sweep(): void;
}

export interface VectorOptions {
  readonly fingerprint: string;
  /** `memorySearch.store.vector.enabled`. */
  readonly useExtension: boolean;
  readonly extensionPath?: string;
  /** Vectors kept though no chunk has their text now (`memorySearch.cache`). */
  readonly maxCached: number;
  /** Another file of the same agent, whose vectors are taken over where the text is the same. */
  readonly adopt?: string;
}

/** The connection allows extensions to be loaded. */
export type CreateVectors = (database: DatabaseSync, options: VectorOptions) => Vectors;

/** Both halves as one list, best first. Weights are brought to a sum of 1. */
export type Rank = (
  text: readonly Ranked[],
  vector: readonly Ranked[],
  weights: { readonly text: number; readonly vector: number },
) => readonly Ranked[];
