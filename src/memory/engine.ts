// Answers searches from one agent's index while changed notes are indexed in the background.
import { statSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

import type { Ranked, VectorOptions, Vectors } from "./embed/embedder.ts";
import { byBoth } from "./embed/hybrid.ts";
import { createVectors } from "./embed/vectors.ts";
import type { MemoryDocument } from "./index-writer.ts";
import type { Indexer } from "./indexer.ts";
import type { IndexFile } from "./index-file.ts";
import type { IndexReport, MemorySource, SkippedFile, VectorStatus } from "./memory.ts";
import { createSearcher, type Audience, type FoundChunk, type Searcher } from "./search.ts";
import type { IndexSettings } from "./settings.ts";
import { openIndexSync, type IndexSync } from "./index-sync.ts";
import { termsOf } from "./terms.ts";

/** How long a search waits for changed notes to be indexed; the first scan may take longer. */
const WAIT_MS = 200;
const FIRST_WAIT_MS = 1000;
/** A scan that takes less than this runs before every search, so that results do not depend on the file watch. */
const CHEAP_SCAN_MS = 6;

export interface EngineQuery {
  readonly query: string;
  readonly limit: number;
  readonly audience: Audience;
  /** Index changed notes before answering. */
  readonly fresh: boolean;
  readonly vector?: Float32Array;
  readonly vectors?: VectorOptions;
  readonly weights: { readonly text: number; readonly vector: number };
}

export interface EngineAnswer {
  readonly hits: readonly (FoundChunk & { readonly score: number })[];
  readonly indexing: boolean;
  /** At least one chunk has a vector of the requested model, so that semantic search is possible. */
  readonly hasVectors: boolean;
  /** Why the last indexing failed. */
  readonly failure?: string;
}

export interface EngineStatus {
  readonly bytes: number;
  readonly bySource: readonly { readonly source: MemorySource; readonly files: number; readonly chunks: number }[];
  readonly dirty: boolean;
  readonly indexing: boolean;
  readonly watching: boolean;
  readonly skipped: readonly SkippedFile[];
  readonly vectors?: VectorStatus;
  readonly sound?: boolean;
  readonly failure?: string;
}

interface EngineSyncRequest {
  readonly force?: boolean;
  readonly vectors?: VectorOptions;
}

interface EngineStatusRequest {
  readonly deep?: boolean;
  readonly vectors?: VectorOptions;
}

export interface Engine {
  search(query: EngineQuery): Promise<EngineAnswer>;
  sync(request: EngineSyncRequest): Promise<IndexReport>;
  /** Starts indexing in the background. */
  begin(): void;
  status(request: EngineStatusRequest): EngineStatus;
  pending(options: VectorOptions, limit: number): ReturnType<Vectors["pending"]>;
  put(options: VectorOptions, rows: Parameters<Vectors["put"]>[0]): void;
  documents(source: MemorySource): ReturnType<Indexer["documents"]>;
  document(document: MemoryDocument): Promise<void>;
  forget(path: string): Promise<boolean>;
  /** Ends indexing soon while searches are still answered; called before `close`. */
  stop(): void;
  close(): Promise<void>;
}

/** Throws `memory.busy` when another process has the index. `onChange` is called after texts were added or removed. */
export function openEngine(settings: IndexSettings, onChange: () => void): Engine {
  return new IndexEngine(settings, onChange);
}

class IndexEngine implements Engine {
  readonly #settings: IndexSettings;
  readonly #onChange: () => void;
  readonly #notes: IndexSync;
  #searcher: Searcher;
  #vectors: { readonly key: string; readonly table: Vectors; filled: boolean } | undefined;

  constructor(settings: IndexSettings, onChange: () => void) {
    this.#settings = settings;
    this.#onChange = onChange;
    this.#notes = openIndexSync(settings, { changed: () => this.#changed(), replaced: () => this.#reopen() });
    this.#searcher = createSearcher(this.#notes.index);
  }

  async search(query: EngineQuery): Promise<EngineAnswer> {
    const notes = this.#notes;
    // Rejects an invalid query before waiting for anything.
    termsOf(query.query);
    if (query.fresh) await this.#refresh();
    // While notes are indexed, cached counts are out of date.
    if (notes.running !== undefined) this.#searcher.changed();
    const [hits, isFilled] = notes.guarded(
      () => [this.#answer(query), this.#hasVectors(query.vectors)] as const,
      () => [[], false] as const,
    );
    const indexing = notes.running !== undefined || notes.isDirty();
    return { hits, hasVectors: isFilled, indexing, ...this.#failure() };
  }

  async sync({ force = false, vectors: options }: EngineSyncRequest): Promise<IndexReport> {
    const startedAt = performance.now();
    this.#notes.markAll();
    const adopt = (next: IndexFile): void => {
      if (options !== undefined) createVectors(next.database, { ...options, adopt: this.#settings.file });
    };
    const { changed, removed } = await this.#notes.sync({ force, prepare: adopt });
    const rows = bySource(this.#notes.index);
    const sum = (key: "files" | "chunks"): number => rows.reduce((total, row) => total + row[key], 0);
    return {
      files: sum("files"),
      chunks: sum("chunks"),
      changed,
      removed,
      skipped: this.#notes.skipped,
      ms: Math.round(performance.now() - startedAt),
    };
  }

  begin(): void {
    this.#notes.markAll();
    this.#notes.sync().catch(() => undefined);
  }

  status({ deep = false, vectors: options }: EngineStatusRequest): EngineStatus {
    return this.#notes.guarded(
      () => this.#statusNow(deep, options),
      () => ({ ...this.#statusNow(false, undefined), ...(deep ? { sound: false } : {}) }),
    );
  }

  pending(options: VectorOptions, limit: number): ReturnType<Vectors["pending"]> {
    return this.#notes.guarded(
      () => this.#vectorsOf(options).pending(limit),
      () => [],
    );
  }

  put(options: VectorOptions, rows: Parameters<Vectors["put"]>[0]): void {
    this.#notes.guarded(
      () => this.#vectorsOf(options).put(rows),
      () => undefined,
    );
  }

  documents(source: MemorySource): ReturnType<Indexer["documents"]> {
    return this.#notes.guarded(
      () => this.#notes.indexer.documents(source),
      () => [],
    );
  }

  document(document: MemoryDocument): Promise<void> {
    return this.#betweenRounds(() => this.#notes.indexer.document(document));
  }

  forget(path: string): Promise<boolean> {
    return this.#betweenRounds(() => this.#notes.indexer.remove(path));
  }

  stop(): void {
    this.#notes.stop();
  }

  close(): Promise<void> {
    return this.#notes.close();
  }

  #changed(): void {
    this.#searcher.changed();
    this.#onChange();
  }

  #reopen(): void {
    this.#vectors = undefined;
    this.#searcher = createSearcher(this.#notes.index);
  }

  #vectorsOf(options: VectorOptions): Vectors {
    const key = JSON.stringify(options);
    if (this.#vectors?.key !== key)
      this.#vectors = { key, table: createVectors(this.#notes.index.database, options), filled: false };
    return this.#vectors.table;
  }

  #hasVectors(options: VectorOptions | undefined): boolean {
    if (options === undefined) return false;
    const table = this.#vectorsOf(options);
    if (this.#vectors?.filled === false) this.#vectors.filled = table.status().ready > 0;
    return this.#vectors?.filled === true;
  }

  async #refresh(): Promise<void> {
    const notes = this.#notes;
    // Lets file events that already arrived be handled first.
    await nextTurn();
    const isFirst = notes.scanMs === Number.POSITIVE_INFINITY;
    if (!notes.isWatching() || notes.scanMs < CHEAP_SCAN_MS) notes.markAll();
    if (!notes.isDirty() && notes.running === undefined) return;
    const read = notes.sync().catch(() => undefined);
    await Promise.race([read, wait(isFirst ? FIRST_WAIT_MS : WAIT_MS, undefined, { ref: false })]);
  }

  #answer({ query, limit, audience, vector, vectors: options, weights }: EngineQuery): EngineAnswer["hits"] {
    const searcher = this.#searcher;
    const byWords = (most: number): readonly Ranked[] => searcher.byWords(termsOf(query), most, audience);
    const isHybrid = vector !== undefined && options !== undefined;
    const ranked = isHybrid ? byBoth(this.#vectorsOf(options), { vector, limit, weights, byWords }) : byWords(limit);
    const scores = new Map(ranked.map(({ id, score }) => [id, score]));
    return searcher
      .chunks([...scores.keys()], audience)
      .map((chunk) => ({ ...chunk, score: scores.get(chunk.id) ?? 0 }));
  }

  #failure(): { failure?: string } {
    const { failure } = this.#notes;
    return failure === undefined ? {} : { failure };
  }

  #statusNow(deep: boolean, options: VectorOptions | undefined): EngineStatus {
    const notes = this.#notes;
    return {
      bytes: statSync(this.#settings.file, { throwIfNoEntry: false })?.size ?? 0,
      bySource: bySource(notes.index),
      dirty: notes.isDirty(),
      indexing: notes.running !== undefined,
      watching: notes.isWatching(),
      skipped: notes.skipped,
      ...this.#failure(),
      ...(options === undefined ? {} : { vectors: this.#vectorsOf(options).status() }),
      ...(deep ? { sound: isSound(notes.index) } : {}),
    };
  }

  /** Documents are written between rounds, never during one. */
  async #betweenRounds<T>(work: () => Promise<T>): Promise<T> {
    await this.#notes.running?.catch(() => undefined);
    const result = await work();
    this.#changed();
    return result;
  }
}

function bySource({ database }: IndexFile): EngineStatus["bySource"] {
  return database
    .prepare(
      `SELECT source, count(*) AS files,
         (SELECT count(*) FROM chunks c JOIN files g ON g.id = c.file WHERE g.source = f.source) AS chunks
       FROM files f GROUP BY source ORDER BY source`,
    )
    .all() as unknown as EngineStatus["bySource"];
}

function isSound({ database }: IndexFile): boolean {
  const { quick_check: result } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
  database.exec("INSERT INTO words (words) VALUES ('integrity-check')");
  return result === "ok";
}
