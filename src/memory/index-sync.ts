// Keeps one index file in step with the notes: one owner, one round at a time, and a new file when the old one is unusable.
import { renameSync } from "node:fs";
import { dirname } from "node:path";

import { OpenClawError } from "../core/error.ts";
import { syncFolder } from "../base/atomic-file.ts";
import type { Lock } from "../base/lock.ts";
import { createIndexer, type Indexer, type SyncCount } from "./indexer.ts";
import { isBroken, openIndexFile, ownIndex, removeIndexFile, type IndexFile } from "./index-file.ts";
import type { SkippedFile } from "./memory.ts";
import { createPendingChanges, type DirtyWork, type PendingChanges } from "./pending-changes.ts";
import { memoryRoots } from "./roots.ts";
import type { IndexSettings } from "./settings.ts";
import { createWatch, type Watch, type WatchedFolder } from "./watch.ts";

const MAX_TRIES = 3;

export interface SyncRequest {
  readonly force?: boolean;
  /** Called with the new file of a rebuild before it replaces the old one. */
  readonly prepare?: (next: IndexFile) => void;
}

export interface IndexSyncEvents {
  /** Texts were added or removed. */
  changed(): void;
  /** The file was closed and another one has taken its place. */
  replaced(): void;
}

/** Throws `memory.busy` when another process has the index. */
export function openIndexSync(settings: IndexSettings, events: IndexSyncEvents): IndexSync {
  const lock = ownIndex(settings.file);
  try {
    return new IndexSync(settings, events, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

export class IndexSync {
  /** The current file; another one after a rebuild. */
  index: IndexFile;
  indexer: Indexer;
  /** The round that runs. */
  running: Promise<SyncCount> | undefined;
  /** How long the last scan of all notes took; infinite before the first. */
  scanMs = Number.POSITIVE_INFINITY;
  skipped: readonly SkippedFile[] = [];
  /** Why the last round failed. */
  failure: string | undefined;

  readonly #settings: IndexSettings;
  readonly #events: IndexSyncEvents;
  readonly #lock: Lock;
  /** Chunks of another size cannot be compared: such a file is rebuilt. */
  readonly #chunking: string;
  readonly #pending: PendingChanges;
  readonly #watch: Watch;
  readonly #interval: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(settings: IndexSettings, events: IndexSyncEvents, lock: Lock) {
    this.#settings = settings;
    this.#events = events;
    this.#lock = lock;
    this.#chunking = JSON.stringify(settings.chunking);
    removeIndexFile(`${settings.file}.next`);
    this.index = this.#open();
    this.indexer = this.#indexerOf(this.index);
    this.#pending = createPendingChanges(settings.debounceMs, () => this.#syncInBackground());
    this.#watch = createWatch({ note: this.#pending.note, anything: this.#pending.everything });
    this.#interval =
      settings.intervalMs > 0 ? setInterval(() => this.#scanAgain(), settings.intervalMs).unref() : undefined;
  }

  /** Indexes pending changes. During a round it waits, and starts another one when changes came meanwhile. */
  sync(request: SyncRequest = {}): Promise<SyncCount> {
    if (this.#isStopped) return Promise.resolve(NO_CHANGES);
    const next = (): Promise<SyncCount> | SyncCount =>
      request.force === true || this.isDirty() ? this.sync(request) : NO_CHANGES;
    if (this.running !== undefined) return this.running.then(next, next);
    this.running = this.#round(request).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** The next round scans all notes. */
  markAll(): void {
    this.#pending.everything();
  }

  isDirty(): boolean {
    return this.#pending.isDirty();
  }

  isWatching(): boolean {
    return this.#watch.isWhole();
  }

  /** Answers with `instead` when the file is damaged; the file is then deleted and built again in the background. */
  guarded<T>(work: () => T, instead: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!isBroken(error) || this.#isStopped) throw error;
      this.#startOver();
      this.#syncInBackground();
      return instead();
    }
  }

  /** Ends indexing soon; searches are still answered. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#interval);
    this.#pending.close();
    this.#watch.close();
  }

  async close(): Promise<void> {
    this.stop();
    await this.running?.catch(() => undefined);
    this.#closeIndex();
    this.#lock.release();
  }

  async #round(request: SyncRequest): Promise<SyncCount> {
    for (let tries = 1; ; tries += 1) {
      const work = this.#pending.take();
      try {
        const count = await this.#apply(request, work);
        this.failure = undefined;
        if (count.changed + count.removed > 0) this.#events.changed();
        return count;
      } catch (error) {
        this.#pending.giveBack(work);
        if (this.#isStopped) return NO_CHANGES;
        if (isBroken(error)) this.#startOver();
        else if (!isMoved(error)) throw this.#failed(error);
        if (tries >= MAX_TRIES) throw this.#failed(error);
      }
    }
  }

  async #apply({ force = false, prepare }: SyncRequest, work: DirtyWork): Promise<SyncCount> {
    if (force || this.index.meta("chunking") !== this.#chunking) return this.#rebuild(prepare);
    if (work.everything) return this.#scan(this.indexer);
    let total = NO_CHANGES;
    for (const { root, names } of work.notes) total = plus(total, await this.indexer.one(root, names));
    return total;
  }

  async #scan(indexer: Indexer): Promise<SyncCount> {
    const startedAt = performance.now();
    const folders: WatchedFolder[] = [];
    const watches = (): boolean => this.#settings.watch && !this.#isStopped;
    const count = await indexer.all(memoryRoots(this.#settings), {
      folder: (path, prefix, root) => {
        folders.push({ path, prefix, root });
        if (watches()) this.#watch.add({ path, prefix, root });
      },
    });
    if (watches()) this.#watch.follow(folders);
    this.scanMs = performance.now() - startedAt;
    this.skipped = count.skipped;
    return count;
  }

  /** Builds a new file beside the old one, which answers until the new one is complete. A failure changes nothing. */
  async #rebuild(prepare: SyncRequest["prepare"]): Promise<SyncCount> {
    const { file } = this.#settings;
    const nextFile = `${file}.next`;
    removeIndexFile(nextFile);
    const next = openIndexFile(nextFile);
    try {
      next.setMeta("chunking", this.#chunking);
      const count = await this.#fill(this.#indexerOf(next));
      prepare?.(next);
      next.close();
      this.#replace(() => {
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

  /** Notes come from the disk; transcripts are copied, because only the old index has them. */
  async #fill(next: Indexer): Promise<SyncCount> {
    const count = await this.#scan(next);
    for (const document of this.indexer.documents("sessions"))
      await next.adopt(document, this.indexer.chunksOf(document.path));
    return count;
  }

  #startOver(): void {
    this.#replace(() => removeIndexFile(this.#settings.file));
    this.#pending.everything();
  }

  /** The old file is closed first: SQLite would otherwise apply its leftover log to the new file. */
  #replace(change: () => void): void {
    this.#closeIndex();
    try {
      change();
    } finally {
      this.index = this.#open();
      this.indexer = this.#indexerOf(this.index);
      this.#events.replaced();
    }
  }

  #open(): IndexFile {
    const opened = openIndexFile(this.#settings.file);
    if (opened.meta("chunking") === undefined) opened.setMeta("chunking", this.#chunking);
    return opened;
  }

  #indexerOf(opened: IndexFile): Indexer {
    return createIndexer(opened, this.#settings.chunking, () => this.#isStopped);
  }

  #closeIndex(): void {
    try {
      this.index.close();
    } catch (error) {
      if (!isBroken(error)) throw error;
    }
  }

  #scanAgain(): void {
    this.#pending.everything();
    this.#syncInBackground();
  }

  /** A failure is recorded in `failure`; no caller waits for this round. */
  #syncInBackground(): void {
    this.sync().catch(() => undefined);
  }

  #failed(error: unknown): unknown {
    this.failure = error instanceof Error ? error.message : String(error);
    return error;
  }
}

const NO_CHANGES: SyncCount = { seen: 0, changed: 0, removed: 0, skipped: [] };

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
