// Writes files and chunks of an index in small steps, so that a slice can end between any two of them.
import { hash } from "node:crypto";

import type { Chunk } from "./chunk.ts";
import type { IndexFile } from "./index-file.ts";
import type { MemorySource } from "./memory.ts";
import type { Steps } from "./slices.ts";
import { spaced } from "./terms.ts";

export interface MemoryDocument {
  readonly path: string;
  readonly source: MemorySource;
  readonly text: string;
  readonly firstLine: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly mark: string;
}

export type DocumentFacts = Pick<MemoryDocument, "path" | "source" | "size" | "mtimeMs" | "mark">;

export interface FileRow {
  readonly id: number;
  readonly hash: string;
  readonly mark: string;
}

export class IndexWriter {
  readonly #sql: ReturnType<typeof statements>;

  constructor(index: IndexFile) {
    this.#sql = statements(index);
  }

  file(path: string): FileRow | undefined {
    return this.#sql.file.get(path) as FileRow | undefined;
  }

  files(source: MemorySource): (FileRow & DocumentFacts)[] {
    return this.#sql.files.all(source) as unknown as (FileRow & DocumentFacts)[];
  }

  chunksOf(path: string): Chunk[] {
    return this.#sql.texts.all(path) as unknown as Chunk[];
  }

  /** Records the new facts of a file whose text is unchanged. */
  *touch(id: number, { mtimeMs, size, mark }: Omit<DocumentFacts, "path" | "source">): Steps {
    this.#sql.touch.run(mtimeMs, size, mark, id);
    yield;
  }

  /** The file gets its mark in the last step: after an interruption it is indexed again. */
  *rewrite(file: DocumentFacts, digest: string, chunks: readonly Chunk[]): Steps {
    const id = this.#fileId(file);
    // Chunks with the same text keep their row, their terms and their vector.
    const old = Map.groupBy(this.#chunkRows(id), (row) => row.hash);
    for (const chunk of chunks) {
      const same = old.get(digestOf(chunk.text))?.shift();
      if (same === undefined) this.#addChunk(id, chunk);
      else if (same.startLine !== chunk.startLine || same.endLine !== chunk.endLine)
        this.#sql.move.run(chunk.startLine, chunk.endLine, same.id);
      yield;
    }
    for (const { id: chunk } of [...old.values()].flat()) {
      this.#dropChunk(chunk);
      yield;
    }
    this.#sql.update.run(digest, file.mtimeMs, file.size, file.mark, id);
  }

  *append(file: DocumentFacts, chunks: readonly Chunk[]): Steps {
    const id = this.#fileId(file);
    for (const chunk of chunks) this.#addChunk(id, chunk);
    this.#sql.update.run(digestOf(file.mark), file.mtimeMs, file.size, file.mark, id);
    yield;
  }

  *drop(id: number): Steps {
    for (const chunk of this.#chunkRows(id)) {
      this.#dropChunk(chunk.id);
      yield;
    }
    this.#sql.dropFile.run(id);
  }

  #chunkRows(file: number): ChunkRow[] {
    return this.#sql.chunksOf.all(file) as unknown as ChunkRow[];
  }

  #fileId({ path, source }: DocumentFacts): number {
    const row = this.file(path);
    if (row === undefined) return Number(this.#sql.insert.run(path, source).lastInsertRowid);
    this.#sql.update.run("", 0, 0, "", row.id);
    return row.id;
  }

  #addChunk(file: number, { startLine, endLine, text }: Chunk): void {
    const { lastInsertRowid } = this.#sql.addChunk.run(file, startLine, endLine, text, digestOf(text));
    this.#sql.addWords.run(lastInsertRowid, spaced(text));
  }

  #dropChunk(id: number): void {
    this.#sql.dropWords.run(id);
    this.#sql.dropChunk.run(id);
  }
}

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

export const digestOf = (content: string | Buffer): string => hash("sha256", content, "hex").slice(0, 32);
