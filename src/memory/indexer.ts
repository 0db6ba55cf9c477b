// Updates an index: chunks and stores changed files, in slices that leave room for searches.
import { setImmediate as nextTurn } from "node:timers/promises";

import { chunkText, type Chunk, type ChunkSize } from "./chunk.ts";
import { visitNote, walkNotes, type FoundNote } from "./files.ts";
import type { IndexFile } from "./index-file.ts";
import type { MemorySource, SkippedFile } from "./memory.ts";
import type { MemoryRoot } from "./roots.ts";
import { digestOf, IndexWriter, type DocumentFacts, type FileRow, type MemoryDocument } from "./index-writer.ts";
import { createSlices } from "./slices.ts";

const SCAN_SLICE_MS = 8;

export interface Indexer {
  /** Scans every file below the roots and removes those that are gone. */
  all(roots: readonly MemoryRoot[], watch?: Watched): Promise<SyncCount>;
  /** Checks one name below a root: changed, new or gone. */
  one(root: MemoryRoot, names: readonly string[]): Promise<SyncCount>;
  /** Stores a text that is not a file. Lines count from `firstLine`; above 1, the text is appended. */
  document(document: MemoryDocument): Promise<void>;
  /** Copies a document of another index with its chunks. */
  adopt(document: DocumentFacts, chunks: readonly Chunk[]): Promise<void>;
  documents(source: MemorySource): DocumentFacts[];
  chunksOf(path: string): Chunk[];
  /** False when it did not exist. */
  remove(path: string): Promise<boolean>;
}

export interface Watched {
  folder(path: string, prefix: string, root: MemoryRoot): void;
  /** Called between slices. */
  progress?(seen: number): void;
}

export interface SyncCount {
  readonly seen: number;
  readonly changed: number;
  readonly removed: number;
  readonly skipped: readonly SkippedFile[];
}

/** `stopped` ends a run between two files; what was indexed so far stays. */
export function createIndexer(index: IndexFile, chunking: ChunkSize, stopped: () => boolean = () => false): Indexer {
  const writer = new IndexWriter(index);
  const slices = createSlices(index.database);

  /** True when the file's text differs from the index. */
  const take = async (note: FoundNote, row: FileRow | undefined): Promise<boolean> => {
    if (row?.mark === note.mark) return false;
    const bytes = note.read();
    if (bytes === undefined) return false;
    const digest = digestOf(bytes);
    if (row?.hash === digest) {
      await slices.offer(writer.touch(row.id, note), 64);
      return false;
    }
    await slices.offer(
      writer.rewrite({ ...note, source: "memory" }, digest, chunkText(readable(bytes), chunking)),
      bytes.length,
    );
    return true;
  };

  const remove = async (path: string): Promise<boolean> => {
    const row = writer.file(path);
    if (row === undefined) return false;
    await slices.offer(writer.drop(row.id), 64);
    await slices.drain();
    return true;
  };

  return {
    remove,
    async all(roots, watch) {
      const rows = writer.files("memory");
      const old = new Map(rows.map((row) => [row.path, row]));
      const seen = new Set<string>();
      const skipped: SkippedFile[] = [];
      const pause = createPause();
      let changed = 0;
      const note = async (found: FoundNote): Promise<void> => {
        if (seen.has(found.path)) return;
        seen.add(found.path);
        if (await take(found, old.get(found.path))) changed += 1;
        if (await pause()) watch?.progress?.(seen.size);
        if (stopped()) throw new Stopped();
      };
      for (const root of roots) {
        await walkNotes(root, {
          note,
          folder: (path, prefix) => watch?.folder(path, prefix, root),
          skip: (file) => skipped.push(file),
        });
      }
      await slices.drain();
      const gone = rows.filter(({ path }) => !seen.has(path));
      for (const { id } of gone) await slices.offer(writer.drop(id), 64);
      await slices.drain();
      return { seen: seen.size, changed, removed: gone.length, skipped };
    },
    async one(root, names) {
      const path = root.prefix + names.join("/");
      const found = await visitNote(root, names, async (note) => ({ changed: await take(note, writer.file(path)) }));
      await slices.drain();
      const removed = found === undefined && (await remove(path));
      return {
        seen: found === undefined ? 0 : 1,
        changed: found?.changed === true ? 1 : 0,
        removed: removed ? 1 : 0,
        skipped: [],
      };
    },
    async document(document) {
      const chunks = chunkText(document.text, chunking).map((chunk) => shifted(chunk, document.firstLine - 1));
      const steps =
        document.firstLine <= 1
          ? writer.rewrite(document, digestOf(document.mark), chunks)
          : writer.append(document, chunks);
      await slices.offer(steps, document.text.length);
      await slices.drain();
    },
    async adopt(document, chunks) {
      await slices.offer(writer.rewrite(document, digestOf(document.mark), chunks), 64 + chunks.length * 1000);
      await slices.drain();
    },
    documents: (source) => writer.files(source),
    chunksOf: (path) => writer.chunksOf(path),
  };
}

/** Yields to other work every few milliseconds while unchanged files are scanned. */
function createPause(): () => Promise<boolean> {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < SCAN_SLICE_MS) return false;
    await nextTurn();
    startedAt = performance.now();
    return true;
  };
}

/** Thrown inside a run that was stopped. */
export class Stopped extends Error {}

function shifted({ startLine, endLine, text }: Chunk, by: number): Chunk {
  return { startLine: startLine + by, endLine: endLine + by, text };
}

/** Replaces invalid bytes and drops the byte order mark. */
function readable(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return (text.startsWith("\uFEFF") ? text.slice(1) : text).replaceAll("\0", "\uFFFD");
}
