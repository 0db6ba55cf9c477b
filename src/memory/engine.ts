// One agent's index at work: what changed is read in, what is asked is answered from what is there. Runs in its thread.
import { renameSync, statSync } from "node:fs";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

import { HouseError } from "../core/error.ts";
import { syncFolder } from "../base/atomic-file.ts";
import type { Ranked, VectorOptions, Vectors } from "./embed/embedder.ts";
import { rank } from "./embed/rank.ts";
import { createVectors } from "./embed/vectors.ts";
import { createDirt } from "./dirt.ts";
import { createIndexer, type Indexer, type MemoryDocument, type SyncCount } from "./indexer.ts";
import { isBroken, openIndexFile, ownIndex, removeIndexFile, type IndexFile } from "./index-file.ts";
import type { IndexReport, MemorySource, SkippedFile, VectorStatus } from "./memory.ts";
import { memoryRoots } from "./roots.ts";
import { createSearcher, type Audience, type FoundChunk } from "./search.ts";
import type { IndexSettings } from "./settings.ts";
import { createWatch, type WatchedFolder } from "./watch.ts";
import { termsOf } from "./words.ts";
import { dirname } from "node:path";

/** How long an answer waits for changes to be read in; a first look at notes may take longer than a later one. */
const WAIT_MS = 200;
const FIRST_WAIT_MS = 1000;
/** A look at everything that is quicker than this is done before every answer; it needs no watch to be right. */
const CHEAP_LOOK_MS = 6;
const MAX_TRIES = 3;

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
  close(): Promise<void>;
}

/** Throws `memory.busy` when another process has the index. `onChange` is told after texts came or went. */
export function openEngine(settings: IndexSettings, onChange: () => void): Engine {
  const lock = ownIndex(settings.file);
  const shape = JSON.stringify(settings.chunking);
  let index = openOrRelease();
  let indexer = indexerOf(index);
  let searcher = createSearcher(index);
  let vectors: { readonly key: string; readonly table: Vectors; filled: boolean } | undefined;
  let skipped: readonly SkippedFile[] = [];
  let failure: string | undefined;
  let lookMs = Number.POSITIVE_INFINITY;
  let running: Promise<SyncCount> | undefined;
  let closed = false;

  const dirt = createDirt(settings.debounceMs, () => void quietly(sync()));
  const watch = createWatch({ note: dirt.note, anything: dirt.everything });
  const interval =
    settings.intervalMs > 0
      ? setInterval(() => {
          dirt.everything();
          void quietly(sync());
        }, settings.intervalMs).unref()
      : undefined;

  function openOrRelease(): IndexFile {
    try {
      removeIndexFile(nextFileOf(settings.file));
      const opened = openIndexFile(settings.file);
      if (opened.meta("chunking") === undefined) opened.setMeta("chunking", shape);
      return opened;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  function indexerOf(file: IndexFile): Indexer {
    return createIndexer(file, settings.chunking, () => closed);
  }

  /** One at a time; what changes meanwhile is the next round's. */
  function sync(force = false, options?: VectorOptions): Promise<SyncCount> {
    if (running !== undefined) return running.then(() => (force || dirt.isDirty() ? sync(force, options) : nothing));
    running = round(force, options).finally(() => {
      running = undefined;
    });
    return running;
  }

  async function round(force: boolean, options: VectorOptions | undefined): Promise<SyncCount> {
    for (let tries = 1; ; tries += 1) {
      const work = dirt.take();
      try {
        const count = await once(force, options, work);
        failure = undefined;
        if (count.changed + count.removed > 0) {
          searcher.changed();
          onChange();
        }
        return count;
      } catch (error) {
        dirt.giveBack(work);
        if (closed) return nothing;
        if (isBroken(error)) startAnew();
        if (tries < MAX_TRIES && (isBroken(error) || isMoved(error))) continue;
        failure = messageOf(error);
        throw error;
      }
    }
  }

  async function once(force: boolean, options: VectorOptions | undefined, work: ReturnType<typeof dirt.take>) {
    if (force || index.meta("chunking") !== shape) return rebuild(options);
    if (work.everything) return lookAtAll(indexer);
    let total = nothing;
    for (const { root, names } of work.notes) total = plus(total, await indexer.one(root, names));
    return total;
  }

  async function lookAtAll(by: Indexer): Promise<SyncCount> {
    const startedAt = performance.now();
    const folders: WatchedFolder[] = [];
    const roots = memoryRoots(settings);
    const count = await by.all(roots, { folder: (path, prefix, root) => folders.push({ path, prefix, root }) });
    if (settings.watch && !closed) watch.follow(folders);
    lookMs = performance.now() - startedAt;
    skipped = count.skipped;
    return count;
  }

  /** A new file beside the old one, which answers until the new one is whole. A failure changes nothing. */
  async function rebuild(options: VectorOptions | undefined): Promise<SyncCount> {
    const file = nextFileOf(settings.file);
    removeIndexFile(file);
    const next = openIndexFile(file);
    let count: SyncCount;
    try {
      next.setMeta("chunking", shape);
      count = await lookAtAll(indexerOf(next));
      if (options !== undefined) createVectors(next.database, { ...options, adopt: settings.file });
    } catch (error) {
      next.close();
      removeIndexFile(file);
      throw error;
    }
    next.close();
    replaceIndex(() => {
      renameSync(file, settings.file);
      syncFolder(dirname(settings.file));
    });
    return { ...count, changed: Math.max(1, count.changed) };
  }

  /** The old file is closed, so that no log of it is left to be taken for one of the new file. */
  function replaceIndex(change: () => void): void {
    closeIndex();
    try {
      change();
    } finally {
      index = openIndexFile(settings.file);
      if (index.meta("chunking") === undefined) index.setMeta("chunking", shape);
      indexer = indexerOf(index);
      searcher = createSearcher(index);
    }
  }

  function startAnew(): void {
    replaceIndex(() => removeIndexFile(settings.file));
    dirt.everything();
  }

  function closeIndex(): void {
    vectors = undefined;
    try {
      index.close();
    } catch (error) {
      if (!isBroken(error)) throw error;
    }
  }

  function vectorsOf(options: VectorOptions): Vectors {
    const key = JSON.stringify(options);
    if (vectors?.key !== key) vectors = { key, table: createVectors(index.database, options), filled: false };
    return vectors.table;
  }

  /** A damaged file is thrown away and read in again; the caller gets what `instead` says. */
  function guarded<T>(work: () => T, instead: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isBroken(error) || closed) throw error;
      startAnew();
      void quietly(sync());
      return instead();
    }
  }

  async function refresh(): Promise<void> {
    // Changes the system has told of but nobody heard yet.
    await nextTurn();
    if (!watch.isWhole() || lookMs < CHEAP_LOOK_MS) dirt.everything();
    if (!dirt.isDirty() && running === undefined) return;
    const isFirst = lookMs === Number.POSITIVE_INFINITY;
    await Promise.race([quietly(sync()), wait(isFirst ? FIRST_WAIT_MS : WAIT_MS, undefined, { ref: false })]);
  }

  function hasVectors(options: VectorOptions | undefined): boolean {
    if (options === undefined) return false;
    const table = vectorsOf(options);
    if (vectors !== undefined && !vectors.filled) vectors.filled = table.status().ready > 0;
    return vectors?.filled === true;
  }

  function answer({ query, limit, audience, vector, vectors: options, weights }: EngineQuery): EngineAnswer["hits"] {
    const words = searcher.byWords(termsOf(query), limit * SCORED_BEYOND, audience);
    const byWords = words.slice(0, limit);
    const table = vector === undefined || options === undefined ? undefined : vectorsOf(options);
    const near = vector === undefined || table === undefined ? [] : table.search(vector, limit);
    const ranked: readonly Ranked[] =
      vector === undefined || table === undefined || near.length === 0
        ? byWords
        : rank(byWords, near, weights, {
            text: words,
            vector: table.nearness(
              vector,
              byWords.map(({ id }) => id),
            ),
          });
    const scores = new Map(ranked.map(({ id, score }) => [id, score]));
    return searcher
      .chunks([...scores.keys()], audience)
      .map((chunk) => ({ ...chunk, score: scores.get(chunk.id) ?? 0 }));
  }

  const state = (): Pick<EngineStatus, "indexing" | "failure"> => ({
    indexing: running !== undefined || dirt.isDirty(),
    ...(failure === undefined ? {} : { failure }),
  });

  return {
    async search(query) {
      termsOf(query.query);
      if (query.fresh) await refresh();
      const hits = guarded(
        () => answer(query),
        () => [],
      );
      return {
        hits,
        hasVectors: guarded(
          () => hasVectors(query.vectors),
          () => false,
        ),
        ...state(),
      };
    },
    async sync({ force = false, vectors: options }) {
      const startedAt = performance.now();
      dirt.everything();
      const { changed, removed } = await sync(force, options);
      const { files, chunks } = totals(index);
      return { files, chunks, changed, removed, skipped, ms: Math.round(performance.now() - startedAt) };
    },
    begin() {
      dirt.everything();
      void quietly(sync());
    },
    status: ({ deep = false, vectors: options }) =>
      guarded(
        () => ({
          bytes: sizeOf(settings.file),
          bySource: bySource(index),
          dirty: dirt.isDirty(),
          watching: watch.isWhole(),
          skipped,
          ...state(),
          indexing: running !== undefined,
          ...(options === undefined ? {} : { vectors: vectorsOf(options).status() }),
          ...(deep ? { sound: isSound(index) } : {}),
        }),
        () => ({
          bytes: 0,
          bySource: [],
          dirty: true,
          watching: false,
          skipped,
          ...state(),
          ...(deep ? { sound: false } : {}),
        }),
      ),
    pending: (options, limit) =>
      guarded(
        () => vectorsOf(options).pending(limit),
        () => [],
      ),
    put: (options, rows) =>
      guarded(
        () => vectorsOf(options).put(rows),
        () => undefined,
      ),
    documents: (source) =>
      guarded(
        () => indexer.documents(source),
        () => [],
      ),
    async document(document) {
      await running?.catch(() => undefined);
      await indexer.document(document);
      searcher.changed();
      onChange();
    },
    async forget(path) {
      await running?.catch(() => undefined);
      searcher.changed();
      return indexer.remove(path);
    },
    async close() {
      closed = true;
      clearInterval(interval);
      dirt.close();
      watch.close();
      await running?.catch(() => undefined);
      closeIndex();
      lock.release();
    },
  };
}

/** What meaning found may stand further down among the words: its score there counts, too. */
const SCORED_BEYOND = 8;

const nothing: SyncCount = { seen: 0, changed: 0, removed: 0, skipped: [] };

function plus(left: SyncCount, right: SyncCount): SyncCount {
  return {
    seen: left.seen + right.seen,
    changed: left.changed + right.changed,
    removed: left.removed + right.removed,
    skipped: [...left.skipped, ...right.skipped],
  };
}

const nextFileOf = (file: string): string => `${file}.next`;

function totals(index: IndexFile): { files: number; chunks: number } {
  const count = (table: "files" | "chunks"): number =>
    Number(index.database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
  return { files: count("files"), chunks: count("chunks") };
}

function bySource({ database }: IndexFile): EngineStatus["bySource"] {
  return database
    .prepare(
      `SELECT source, count(*) AS files, (SELECT count(*) FROM chunks c JOIN files g ON g.id = c.file WHERE g.source = f.source) AS chunks
       FROM files f GROUP BY source ORDER BY source`,
    )
    .all() as unknown as EngineStatus["bySource"];
}

function isSound({ database }: IndexFile): boolean {
  const { quick_check: said } = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
  database.exec("INSERT INTO words (words) VALUES ('integrity-check')");
  return said === "ok";
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** A failure is kept in the state; nobody else waits for this work. */
async function quietly(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}

function isMoved(error: unknown): boolean {
  return error instanceof HouseError && error.code === "fs.changed";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
