// One agent's index at work: questions are answered from what is there, while upkeep reads in what changed.
import { statSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

import type { Ranked, VectorOptions, Vectors } from "./embed/embedder.ts";
import { byBoth } from "./embed/hybrid.ts";
import { createVectors } from "./embed/vectors.ts";
import type { Indexer, MemoryDocument } from "./indexer.ts";
import type { IndexFile } from "./index-file.ts";
import type { IndexReport, MemorySource, SkippedFile, VectorStatus } from "./memory.ts";
import { createSearcher, type Audience, type FoundChunk } from "./search.ts";
import type { IndexSettings } from "./settings.ts";
import { openIndexSync } from "./index-sync.ts";
import { termsOf } from "./words.ts";

/** How long an answer waits for changes to be read in; a first look at notes may take longer than a later one. */
const WAIT_MS = 200;
const FIRST_WAIT_MS = 1000;
/** A look at everything that is quicker than this is done before every answer; it needs no watch to be right. */
const CHEAP_LOOK_MS = 6;

export interface EngineQuery {
  readonly query: string;
  readonly limit: number;
  readonly audience: Audience;
  /** Read in what changed before answering. */
  readonly fresh: boolean;
  readonly vector?: Float32Array;
  readonly vectors?: VectorOptions;
  readonly weights: { readonly text: number; readonly vector: number };
}

export interface EngineAnswer {
  readonly hits: readonly (FoundChunk & { readonly score: number })[];
  readonly indexing: boolean;
  /** Some piece has a vector of the model that was named: meaning can be asked for. */
  readonly hasVectors: boolean;
  /** Why reading in failed the last time. */
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

export interface Engine {
  search(query: EngineQuery): Promise<EngineAnswer>;
  sync(wish: { readonly force?: boolean; readonly vectors?: VectorOptions }): Promise<IndexReport>;
  /** Starts it, waits for nothing. */
  begin(): void;
  status(wish: { readonly deep?: boolean; readonly vectors?: VectorOptions }): EngineStatus;
  pending(options: VectorOptions, limit: number): ReturnType<Vectors["pending"]>;
  put(options: VectorOptions, rows: Parameters<Vectors["put"]>[0]): void;
  documents(source: MemorySource): ReturnType<Indexer["documents"]>;
  document(document: MemoryDocument): Promise<void>;
  forget(path: string): Promise<boolean>;
  /** Reading in ends soon, questions are still answered: before `close`, while some are under way. */
  stop(): void;
  close(): Promise<void>;
}

/** Throws `memory.busy` when another process has the index. `onChange` is told after texts came or went. */
export function openEngine(settings: IndexSettings, onChange: () => void): Engine {
  const changed = (): void => {
    searcher.changed();
    onChange();
  };
  const upkeep = openIndexSync(settings, { changed, replaced: reopen });
  let searcher = createSearcher(upkeep.index());
  let vectors: { readonly key: string; readonly table: Vectors; filled: boolean } | undefined;

  function reopen(): void {
    vectors = undefined;
    searcher = createSearcher(upkeep.index());
  }

  function vectorsOf(options: VectorOptions): Vectors {
    const key = JSON.stringify(options);
    if (vectors?.key !== key) vectors = { key, table: createVectors(upkeep.index().database, options), filled: false };
    return vectors.table;
  }

  function hasVectors(options: VectorOptions | undefined): boolean {
    if (options === undefined) return false;
    const table = vectorsOf(options);
    if (vectors !== undefined && !vectors.filled) vectors.filled = table.status().ready > 0;
    return vectors?.filled === true;
  }

  async function refresh(): Promise<void> {
    // Changes the system has told of but nobody heard yet.
    await nextTurn();
    const isFirst = upkeep.lookMs() === Number.POSITIVE_INFINITY;
    if (!upkeep.isWatching() || upkeep.lookMs() < CHEAP_LOOK_MS) upkeep.markAll();
    if (!upkeep.isDirty() && upkeep.running() === undefined) return;
    const read = upkeep.sync().catch(() => undefined);
    await Promise.race([read, wait(isFirst ? FIRST_WAIT_MS : WAIT_MS, undefined, { ref: false })]);
  }

  function answer({ query, limit, audience, vector, vectors: options, weights }: EngineQuery): EngineAnswer["hits"] {
    const byWords = (most: number): readonly Ranked[] => searcher.byWords(termsOf(query), most, audience);
    const isHybrid = vector !== undefined && options !== undefined;
    const ranked = isHybrid ? byBoth(vectorsOf(options), { vector, limit, weights, byWords }) : byWords(limit);
    const scores = new Map(ranked.map(({ id, score }) => [id, score]));
    return searcher
      .chunks([...scores.keys()], audience)
      .map((chunk) => ({ ...chunk, score: scores.get(chunk.id) ?? 0 }));
  }

  function failureNow(): { failure?: string } {
    const failure = upkeep.failure();
    return failure === undefined ? {} : { failure };
  }

  function statusNow(deep: boolean, options: VectorOptions | undefined): EngineStatus {
    return {
      bytes: statSync(settings.file, { throwIfNoEntry: false })?.size ?? 0,
      bySource: bySource(upkeep.index()),
      dirty: upkeep.isDirty(),
      indexing: upkeep.running() !== undefined,
      watching: upkeep.isWatching(),
      skipped: upkeep.skipped(),
      ...failureNow(),
      ...(options === undefined ? {} : { vectors: vectorsOf(options).status() }),
      ...(deep ? { sound: isSound(upkeep.index()) } : {}),
    };
  }

  /** Documents are written between rounds, never into one. */
  async function betweenRounds<T>(work: () => Promise<T>): Promise<T> {
    await upkeep.running()?.catch(() => undefined);
    const result = await work();
    changed();
    return result;
  }

  return {
    async search(query) {
      // Said before anything is waited for.
      termsOf(query.query);
      if (query.fresh) await refresh();
      // While notes are read in, what was counted a moment ago is no longer so.
      if (upkeep.running() !== undefined) searcher.changed();
      const [hits, isFilled] = upkeep.guarded(
        () => [answer(query), hasVectors(query.vectors)] as const,
        () => [[], false] as const,
      );
      const indexing = upkeep.running() !== undefined || upkeep.isDirty();
      return { hits, hasVectors: isFilled, indexing, ...failureNow() };
    },
    async sync({ force = false, vectors: options }) {
      const startedAt = performance.now();
      upkeep.markAll();
      const adopt = (next: IndexFile): void => {
        if (options !== undefined) createVectors(next.database, { ...options, adopt: settings.file });
      };
      const { changed: read, removed } = await upkeep.sync({ force, prepare: adopt });
      const rows = bySource(upkeep.index());
      const sum = (key: "files" | "chunks"): number => rows.reduce((total, row) => total + row[key], 0);
      return {
        files: sum("files"),
        chunks: sum("chunks"),
        changed: read,
        removed,
        skipped: upkeep.skipped(),
        ms: Math.round(performance.now() - startedAt),
      };
    },
    begin() {
      upkeep.markAll();
      upkeep.sync().catch(() => undefined);
    },
    status: ({ deep = false, vectors: options }) =>
      upkeep.guarded(
        () => statusNow(deep, options),
        () => ({ ...statusNow(false, undefined), ...(deep ? { sound: false } : {}) }),
      ),
    pending: (options, limit) =>
      upkeep.guarded(
        () => vectorsOf(options).pending(limit),
        () => [],
      ),
    put: (options, rows) =>
      upkeep.guarded(
        () => vectorsOf(options).put(rows),
        () => undefined,
      ),
    documents: (source) =>
      upkeep.guarded(
        () => upkeep.indexer().documents(source),
        () => [],
      ),
    document: (document) => betweenRounds(() => upkeep.indexer().document(document)),
    forget: (path) => betweenRounds(() => upkeep.indexer().remove(path)),
    stop: upkeep.stop,
    close: () => upkeep.close(),
  };
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
  const { quick_check: said } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
  database.exec("INSERT INTO words (words) VALUES ('integrity-check')");
  return said === "ok";
}
