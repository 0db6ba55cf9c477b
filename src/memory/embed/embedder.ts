// The contract of embeddings: texts to unit vectors, and a table of vectors beside the chunks.
import type { DatabaseSync } from "node:sqlite";

import { OpenClawError } from "../../core/error.ts";
import type { AgentId } from "../../core/names.ts";
import type { VectorStatus } from "../memory.ts";

const embedProviders = ["openai", "gemini", "voyage", "ollama", "local"] as const;
export type EmbedProvider = (typeof embedProviders)[number];

/** Some models embed queries and passages differently. */
export type EmbedKind = "query" | "passage";

/** Runs in the main thread (keys, network) or controls its own process; never blocks the event loop. */
export interface Embedder {
  readonly provider: EmbedProvider;
  readonly model: string;
  /** Texts per call; small enough that finished work is stored often. */
  readonly stride: number;
  /** Provider, endpoint and model: vectors with different fingerprints are never compared. */
  readonly fingerprint: string;
  /**
   * One vector per text, of length one, or zero for a text without meaning. Rejects with EmbedError; retries
   * internally.
   */
  embed(texts: readonly string[], kind: EmbedKind, signal?: AbortSignal): Promise<readonly Float32Array[]>;
  /** How long to wait for the vector of a query now, where that varies: a model may have to be loaded. */
  waitMs?(): number;
  close(): Promise<void>;
}

export type EmbedFault =
  | "auth"
  | "billing"
  | "rate-limit"
  | "overloaded"
  | "invalid"
  | "network"
  | "timeout"
  | "garbled"
  | "aborted"
  | "missing";

/** Why there are no vectors: `embed.<fault>`. */
export class EmbedError extends OpenClawError {
  override readonly name: string = "EmbedError";
  readonly fault: EmbedFault;
  readonly retryAfterMs: number | undefined;

  constructor(
    fault: EmbedFault,
    message: string,
    { hint, cause, retryAfterMs }: { hint?: string; cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(`embed.${fault}`, message, { cause, ...(hint === undefined ? {} : { hint }) });
    this.fault = fault;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Opened once per agent and settings. Without an embedder only text search works, and `reason` explains why. */
export interface OpenedEmbedder {
  readonly embedder?: Embedder;
  readonly reason?: string;
  /** The config key or command that fixes it. */
  readonly hint?: string;
  /** The first choice failed and the fallback is used. */
  readonly fallback?: { readonly from: string; readonly reason: string };
}

/**
 * Cheap to call repeatedly: returns the same embedder until the settings change. Call it for every search and every
 * batch: after failures of the first choice it returns the configured `fallback`, with another fingerprint.
 */
export type OpenEmbedder = (agent: AgentId) => Promise<OpenedEmbedder>;

/** A chunk found by text or by vector; `id` is `chunks.id`. */
export interface Ranked {
  readonly id: number;
  /** 0 to 1. */
  readonly score: number;
}

/**
 * The vector table of one index file, keyed by `chunks.hash`. Used in the thread that owns the file; every call is
 * synchronous and short (bounded by its arguments).
 */
export interface Vectors {
  /** Chunks without a vector, each text once. */
  pending(limit: number): readonly { readonly hash: string; readonly text: string }[];
  put(rows: readonly { readonly hash: string; readonly vector: Float32Array }[]): void;
  /** Nearest chunks, best first. */
  search(query: Float32Array, limit: number): readonly Ranked[];
  /** The similarity of these chunks; chunks without a vector are omitted. */
  nearness(query: Float32Array, ids: readonly number[]): readonly Ranked[];
  status(): VectorStatus;
  /** Deletes vectors without a chunk, down to the size of the cache. */
  sweep(): void;
}

export interface VectorOptions {
  readonly fingerprint: string;
  /** `memorySearch.store.vector.enabled`. */
  readonly useExtension: boolean;
  readonly extensionPath?: string;
  /** Number of cached vectors whose text no chunk has (`memorySearch.cache`). */
  readonly maxCached: number;
  /** Another index file of the same agent, whose vectors are reused for equal texts. */
  readonly adopt?: string;
}

/** The connection allows loading extensions. */
export type CreateVectors = (database: DatabaseSync, options: VectorOptions) => Vectors;

/**
 * Merges both result lists, best first. Weights are normalized to a sum of 1. `known` completes the scores of chunks
 * that only one list has; it adds no chunk.
 */
export type Rank = (
  text: readonly Ranked[],
  vector: readonly Ranked[],
  weights: { readonly text: number; readonly vector: number },
  known?: { readonly text: readonly Ranked[]; readonly vector: readonly Ranked[] },
) => readonly Ranked[];

/** The index as the filler uses it: asynchronous, because the file belongs to another thread. */
export interface FillPort {
  /** Sets the space that new vectors belong to (`VectorOptions.fingerprint`), then returns `Vectors.pending`. */
  pending(fingerprint: string, limit: number): Promise<readonly { readonly hash: string; readonly text: string }[]>;
  put(fingerprint: string, rows: readonly { readonly hash: string; readonly vector: Float32Array }[]): Promise<void>;
}

/** Computes the vectors of one index in the background, in batches; `createFiller` in filler.ts. */
export interface Filler {
  /** Call it after every change of the index. */
  poke(): void;
  /** Resolves when all vectors are computed, or none can be computed now. */
  settled(): Promise<void>;
  /** Why it is paused. */
  problem(): string | undefined;
  isBusy(): boolean;
  close(): Promise<void>;
}
