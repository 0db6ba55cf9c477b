// The contract of embeddings, as memory uses them: texts in, unit vectors out, and a table of them beside the chunks.
import type { DatabaseSync } from "node:sqlite";

import { OpenClawError } from "../../core/error.ts";
import type { AgentId } from "../../core/names.ts";
import type { VectorStatus } from "../memory.ts";

const embedProviders = ["openai", "gemini", "voyage", "ollama", "local"] as const;
export type EmbedProvider = (typeof embedProviders)[number];

/** Some models embed what is asked and what is searched differently. */
export type EmbedKind = "query" | "passage";

/** Lives in the main thread (keys, network) or drives a thread of its own; never blocks the event loop. */
export interface Embedder {
  readonly provider: EmbedProvider;
  readonly model: string;
  /** How many texts one call takes well, so that what was done is kept often enough. */
  readonly stride: number;
  /** Provider, endpoint and model: vectors of different fingerprints are never compared. */
  readonly fingerprint: string;
  /** As many vectors as texts, each of length one, or zero where a text means nothing. Rejects with EmbedError; retries are inside. */
  embed(texts: readonly string[], kind: EmbedKind, signal?: AbortSignal): Promise<readonly Float32Array[]>;
  /** How long the vector of a question is worth waiting for now, where that differs: a model may have to be loaded. */
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

/** Opened once per agent and settings. Without an embedder, text search alone answers, and `reason` tells why. */
export interface OpenedEmbedder {
  readonly embedder?: Embedder;
  readonly reason?: string;
  /** The config key or command that fixes it. */
  readonly hint?: string;
  /** The first choice failed and another one answers. */
  readonly fallback?: { readonly from: string; readonly reason: string };
}

/**
 * Cheap to call again and again: the same embedder comes back until the settings change. Call it for every search and
 * every stride: after failures of the first choice the configured `fallback` is what comes back, with another fingerprint.
 */
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
  /** How near these chunks are; those without a vector are left out. */
  nearness(query: Float32Array, ids: readonly number[]): readonly Ranked[];
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

/**
 * Both halves as one list, best first. Weights are brought to a sum of 1. `known` completes the pair of scores for what
 * only one half found; it adds no chunk.
 */
export type Rank = (
  text: readonly Ranked[],
  vector: readonly Ranked[],
  weights: { readonly text: number; readonly vector: number },
  known?: { readonly text: readonly Ranked[]; readonly vector: readonly Ranked[] },
) => readonly Ranked[];

/** What the filler asks of an index: promises, because the file lives in another thread. */
export interface FillPort {
  /** Says which space the vectors belong to from now on (`VectorOptions.fingerprint`), then as `Vectors.pending`. */
  pending(fingerprint: string, limit: number): Promise<readonly { readonly hash: string; readonly text: string }[]>;
  put(fingerprint: string, rows: readonly { readonly hash: string; readonly vector: Float32Array }[]): Promise<void>;
}

/** Gives the pieces of one index their vectors in the background, a stride at a time; `createFiller` in filler.ts. */
export interface Filler {
  /** There may be something to do: call after every change of the index. */
  poke(): void;
  /** When nothing is left to do, or it cannot be done for now. */
  settled(): Promise<void>;
  /** Why it rests now. */
  problem(): string | undefined;
  isBusy(): boolean;
  close(): Promise<void>;
}
