// Keeping one index file in step with the notes: one owner, one round of reading in at a time, a new file when it must be.
import { renameSync } from "node:fs";
import { dirname } from "node:path";

import { OpenClawError } from "../core/error.ts";
import { syncFolder } from "../base/atomic-file.ts";
import { createPendingChanges, type DirtyWork } from "./pending-changes.ts";
import { createIndexer, type Indexer, type SyncCount } from "./indexer.ts";
import { isBroken, openIndexFile, ownIndex, removeIndexFile, type IndexFile } from "./index-file.ts";
import type { SkippedFile } from "./memory.ts";
import { memoryRoots } from "./roots.ts";
import type { IndexSettings } from "./settings.ts";
import { createWatch, type WatchedFolder } from "./watch.ts";

const MAX_TRIES = 3;

export interface IndexSync {
  /** The file of now; another one after a rebuild. */
  index(): IndexFile;
  indexer(): Indexer;
  /** Reads in what is marked; a round that runs is waited for and followed by one more where marks came meanwhile. */
  sync(wish?: SyncRequest): Promise<SyncCount>;
  /** Everything is to be looked at with the next round. */
  markAll(): void;
  isDirty(): boolean;
  /** The round that runs. */
  running(): Promise<unknown> | undefined;
  isWatching(): boolean;
  /** How long the last look at everything took; infinite before the first. */
  lookMs(): number;
  skipped(): readonly SkippedFile[];
  /** Why the last round failed. */
  failure(): string | undefined;
  /** A damaged file is thrown away and read in again meanwhile; then `instead` answers. */
  guarded<T>(work: () => T, instead: () => T): T;
  /** Reads in no more; what runs ends soon, questions are still answered. */
  readonly stop: () => void;
  close(): Promise<void>;
}

export interface SyncRequest {
  readonly force?: boolean;
  /** Called with the new file of a rebuild before it takes the place of the old one. */
  readonly prepare?: (next: IndexFile) => void;
}

export interface IndexSyncEvents {
  /** Texts came or went. */
  changed(): void;
  /** The file was closed and another one stands in its place. */
  replaced(): void;
}

/** Throws `memory.busy` when another process has the index. */
export function openIndexSync(settings: IndexSettings, events: IndexSyncEvents): IndexSync {
  const { file } = settings;
  const shape = JSON.stringify(settings.chunking);
  const lock = ownIndex(file);
  let index = openOrRelease();
  let indexer = indexerOf(index);
  let skipped: readonly SkippedFile[] = [];
  let failure: string | undefined;
  let lookMs = Number.POSITIVE_INFINITY;
  let running: Promise<SyncCount> | undefined;
  let closed = false;
  const dirt = createPendingChanges(settings.debounceMs, syncQuietly);
  const watch = createWatch({ note: dirt.note, anything: dirt.everything });
  const interval = settings.intervalMs > 0 ? setInterval(lookAgain, settings.intervalMs).unref() : undefined;

  function openOrRelease(): IndexFile {
    try {
      removeIndexFile(`${file}.next`);
      return openShaped();
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  function openShaped(): IndexFile {
    const opened = openIndexFile(file);
    if (opened.meta("chunking") === undefined) opened.setMeta("chunking", shape);
    return opened;
  }

  function indexerOf(opened: IndexFile): Indexer {
    return createIndexer(opened, settings.chunking, () => closed);
  }

  /** A failure is kept as such; nobody waits here. */
  function syncQuietly(): void {
    sync().catch(() => undefined);
  }

  function lookAgain(): void {
    dirt.everything();
    syncQuietly();
  }

  function sync(wish: SyncRequest = {}): Promise<SyncCount> {
    if (closed) return Promise.resolve(nothing);
    const next = (): Promise<SyncCount> | SyncCount => (wish.force === true || dirt.isDirty() ? sync(wish) : nothing);
    if (running !== undefined) return running.then(next, next);
    running = round(wish).finally(() => {
      running = undefined;
    });
    return running;
  }

  async function round(wish: SyncRequest): Promise<SyncCount> {
    for (let tries = 1; ; tries += 1) {
      const work = dirt.take();
      try {
        const count = await read(wish, work);
        failure = undefined;
        if (count.changed + count.removed > 0) events.changed();
        return count;
      } catch (error) {
        dirt.giveBack(work);
        if (closed) return nothing;
        if (isBroken(error)) startAnew();
        else if (!isMoved(error) || tries >= MAX_TRIES) throw failed(error);
        if (tries >= MAX_TRIES) throw failed(error);
      }
    }
  }

  function failed(error: unknown): unknown {
    failure = error instanceof Error ? error.message : String(error);
    return error;
  }

  async function read({ force = false, prepare }: SyncRequest, work: DirtyWork): Promise<SyncCount> {
    if (force || index.meta("chunking") !== shape) return rebuild(prepare);
    if (work.everything) return lookAtAll(indexer);
    let total = nothing;
    for (const { root, names } of work.notes) total = plus(total, await indexer.one(root, names));
    return total;
  }

  async function lookAtAll(by: Indexer): Promise<SyncCount> {
    const startedAt = performance.now();
    const folders: WatchedFolder[] = [];
    const count = await by.all(memoryRoots(settings), {
      folder(path, prefix, root) {
        folders.push({ path, prefix, root });
        if (settings.watch && !closed) watch.add({ path, prefix, root });
      },
    });
    if (settings.watch && !closed) watch.follow(folders);
    lookMs = performance.now() - startedAt;
    skipped = count.skipped;
    return count;
  }

  /** A new file beside the old one, which answers until the new one is whole. A failure changes nothing. */
  async function rebuild(prepare: SyncRequest["prepare"]): Promise<SyncCount> {
    const nextFile = `${file}.next`;
    removeIndexFile(nextFile);
    const next = openIndexFile(nextFile);
    try {
      next.setMeta("chunking", shape);
      const count = await fill(indexerOf(next));
      prepare?.(next);
      next.close();
      replace(() => {
        renameSync(nextFile, file);
        syncFolder(dirname(file));
      });
      return { ...count, changed: Math.max(1, count.changed) };
    } catch (error) {
      if (next.database.isOpen) next.close();
      removeIndexFile(nextFile);
      throw error;
    }
  }

  /** Notes from the disk; what is no file is known to the old index alone. */
  async function fill(next: Indexer): Promise<SyncCount> {
    const count = await lookAtAll(next);
    for (const document of indexer.documents("sessions")) await next.adopt(document, indexer.chunksOf(document.path));
    return count;
  }

  /** The old file is closed first, so that no log of it is left to be taken for one of the new file. */
  function replace(change: () => void): void {
    closeIndex();
    try {
      change();
    } finally {
      index = openShaped();
      indexer = indexerOf(index);
      events.replaced();
    }
  }

  function startAnew(): void {
    replace(() => removeIndexFile(file));
    dirt.everything();
  }

  function closeIndex(): void {
    try {
      index.close();
    } catch (error) {
      if (!isBroken(error)) throw error;
    }
  }

  function stop(): void {
    closed = true;
    clearInterval(interval);
    dirt.close();
    watch.close();
  }

  return {
    index: () => index,
    indexer: () => indexer,
    sync,
    markAll: dirt.everything,
    isDirty: dirt.isDirty,
    running: () => running,
    isWatching: watch.isWhole,
    lookMs: () => lookMs,
    skipped: () => skipped,
    failure: () => failure,
    guarded(work, instead) {
      try {
        return work();
      } catch (error) {
        if (!isBroken(error) || closed) throw error;
        startAnew();
        syncQuietly();
        return instead();
      }
    },
    stop,
    async close() {
      stop();
      await running?.catch(() => undefined);
      closeIndex();
      lock.release();
    },
  };
}

const nothing: SyncCount = { seen: 0, changed: 0, removed: 0, skipped: [] };

function plus(left: SyncCount, right: SyncCount): SyncCount {
  return {
    seen: left.seen + right.seen,
    changed: left.changed + right.changed,
    removed: left.removed + right.removed,
    skipped: [...left.skipped, ...right.skipped],
  };
}

function isMoved(error: unknown): boolean {
  return error instanceof OpenClawError && error.code === "fs.changed";
}
