// Updates an index: chunks and stores changed files, in slices that leave room for searches.
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

import { chunkText, type Chunk, type ChunkSize } from "./chunk.ts";
import { visitNote, walkNotes, type FoundNote } from "./files.ts";
import type { IndexFile } from "./index-file.ts";
import type { MemorySource, SkippedFile } from "./memory.ts";
import type { MemoryRoot } from "./roots.ts";
import { createSlices, type Steps } from "./slices.ts";
import { spaced } from "./terms.ts";

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

export interface MemoryDocument {
  readonly path: string;
  readonly source: MemorySource;
  readonly text: string;
  readonly firstLine: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly mark: string;
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

export type DocumentFacts = Pick<MemoryDocument, "path" | "source" | "size" | "mtimeMs" | "mark">;

interface FileRow {
  readonly id: number;
  readonly hash: string;
  readonly mark: string;
}

/** `stopped` ends a run between two files; what was indexed so far stays. */
export function createIndexer(index: IndexFile, chunking: ChunkSize, stopped: () => boolean = () => false): Indexer {
  const sql = statements(index);
  const slices = createSlices(index.database);
  const known = (path: string): FileRow | undefined => sql.file.get(path) as unknown as FileRow | undefined;

  /** True when the file's text differs from the index. */
  const take = async (note: FoundNote, row: FileRow | undefined): Promise<boolean> => {
    if (row?.mark === note.mark) return false;
    const bytes = note.read();
    if (bytes === undefined) return false;
    const digest = digestOf(bytes);
    if (row?.hash === digest) {
      await slices.offer(
        once(() => sql.touch.run(note.mtimeMs, note.size, note.mark, row.id)),
        64,
      );
      return false;
    }
    await slices.offer(
      rewrite({ ...note, source: "memory" }, digest, chunkText(readable(bytes), chunking)),
      bytes.length,
    );
    return true;
  };

  /** The file gets its mark in the last step: after an interruption it is indexed again. */
  function* rewrite(file: DocumentFacts, digest: string, chunks: readonly Chunk[]): Steps {
    const id = fileId(file);
    // Chunks with the same text keep their row, their terms and their vector.
    const old = new Map<string, ChunkRow[]>();
    for (const row of sql.chunksOf.all(id) as unknown as ChunkRow[])
      old.set(row.hash, [...(old.get(row.hash) ?? []), row]);
    for (const chunk of chunks) {
      const same = old.get(digestOf(chunk.text))?.shift();
      if (same === undefined) addChunk(id, chunk);
      else if (same.startLine !== chunk.startLine || same.endLine !== chunk.endLine)
        sql.move.run(chunk.startLine, chunk.endLine, same.id);
      yield;
    }
    for (const { id: chunk } of [...old.values()].flat()) {
      dropChunk(chunk);
      yield;
    }
    sql.update.run(digest, file.mtimeMs, file.size, file.mark, id);
  }

  function* append(file: DocumentFacts, chunks: readonly Chunk[]): Steps {
    const id = fileId(file);
    for (const chunk of chunks) addChunk(id, chunk);
    sql.update.run(digestOf(file.mark), file.mtimeMs, file.size, file.mark, id);
    yield;
  }

  function* drop(id: number): Steps {
    for (const chunk of sql.chunksOf.all(id) as unknown as ChunkRow[]) {
      dropChunk(chunk.id);
      yield;
    }
    sql.dropFile.run(id);
  }

  const fileId = ({ path, source }: DocumentFacts): number => {
    const row = known(path);
    if (row === undefined) return Number(sql.insert.run(path, source).lastInsertRowid);
    sql.update.run("", 0, 0, "", row.id);
    return row.id;
  };

  const addChunk = (file: number, { startLine, endLine, text }: Chunk): void => {
    const { lastInsertRowid } = sql.addChunk.run(file, startLine, endLine, text, digestOf(text));
    sql.addWords.run(lastInsertRowid, spaced(text));
  };

  const dropChunk = (id: number): void => {
    sql.dropWords.run(id);
    sql.dropChunk.run(id);
  };

  const remove = async (path: string): Promise<boolean> => {
    const row = known(path);
    if (row === undefined) return false;
    await slices.offer(drop(row.id), 64);
    await slices.drain();
    return true;
  };

  return {
    remove,
    async all(roots, watch) {
      const rows = sql.files.all("memory") as unknown as (FileRow & { path: string })[];
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
      for (const { id } of gone) await slices.offer(drop(id), 64);
      await slices.drain();
      return { seen: seen.size, changed, removed: gone.length, skipped };
    },
    async one(root, names) {
      const path = root.prefix + names.join("/");
      const found = await visitNote(root, names, async (note) => ({ changed: await take(note, known(path)) }));
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
        document.firstLine <= 1 ? rewrite(document, digestOf(document.mark), chunks) : append(document, chunks);
      await slices.offer(steps, document.text.length);
      await slices.drain();
    },
    async adopt(document, chunks) {
      await slices.offer(rewrite(document, digestOf(document.mark), chunks), 64 + chunks.length * 1000);
      await slices.drain();
    },
    documents: (source) => sql.files.all(source) as unknown as DocumentFacts[],
    chunksOf: (path) => sql.texts.all(path) as unknown as Chunk[],
  };
}

function* once(work: () => void): Steps {
  work();
  yield;
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

interface ChunkRow {
  readonly id: number;
  readonly hash: string;
  readonly startLine: number;
  readonly endLine: number;
}

function statements({ database }: IndexFile) {
  return {
    file: database.prepare("SELECT id, hash, mark FROM files WHERE path = ?"),
    files: database.prepare("SELECT id, path, source, hash, mark, size, mtime AS mtimeMs FROM files WHERE source = ?"),
    insert: database.prepare("INSERT INTO files (path, source, hash, mtime, size, mark) VALUES (?, ?, '', 0, 0, '')"),
    update: database.prepare("UPDATE files SET hash = ?, mtime = ?, size = ?, mark = ? WHERE id = ?"),
    touch: database.prepare("UPDATE files SET mtime = ?, size = ?, mark = ? WHERE id = ?"),
    dropFile: database.prepare("DELETE FROM files WHERE id = ?"),
    chunksOf: database.prepare(
      "SELECT id, hash, start_line AS startLine, end_line AS endLine FROM chunks WHERE file = ? ORDER BY id",
    ),
    texts: database.prepare(
      `SELECT c.start_line AS startLine, c.end_line AS endLine, c.text FROM chunks c JOIN files f ON f.id = c.file
       WHERE f.path = ? ORDER BY c.id`,
    ),
    addChunk: database.prepare("INSERT INTO chunks (file, start_line, end_line, text, hash) VALUES (?, ?, ?, ?, ?)"),
    move: database.prepare("UPDATE chunks SET start_line = ?, end_line = ? WHERE id = ?"),
    dropChunk: database.prepare("DELETE FROM chunks WHERE id = ?"),
    addWords: database.prepare("INSERT INTO words (rowid, text) VALUES (?, ?)"),
    dropWords: database.prepare("DELETE FROM words WHERE rowid = ?"),
  };
}

function shifted({ startLine, endLine, text }: Chunk, by: number): Chunk {
  return { startLine: startLine + by, endLine: endLine + by, text };
}

const digestOf = (content: string | Buffer): string => hash("sha256", content, "hex").slice(0, 32);

/** Replaces invalid bytes and drops the byte order mark. */
function readable(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  return (text.startsWith("\uFEFF") ? text.slice(1) : text).replaceAll("\0", "\uFFFD");
}
