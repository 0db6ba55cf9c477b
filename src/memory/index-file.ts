// The index file of one agent: a SQLite cache that can be deleted at any time, owned by one process at a time.
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { diskError } from "../base/atomic-file.ts";
import { acquireLock, type Lock } from "../base/lock.ts";

/** Increased whenever this code cannot read an older index. */
const SHAPE = 1;

export interface IndexFile {
  readonly file: string;
  readonly database: DatabaseSync;
  meta(key: string): string | undefined;
  setMeta(key: string, value: string): void;
  close(): void;
}

/** Locks `file` for writing. Throws `memory.busy` when another process has it. */
export function ownIndex(file: string): Lock {
  try {
    return acquireLock(`${file}.lock`);
  } catch (error) {
    if (!(error instanceof OpenClawError) || error.code !== "lock.held") throw error;
    throw new OpenClawError("memory.busy", `another process has the index ${file} open`, {
      hint: "wait until it is done, or stop it: openclaw gateway status",
      cause: error,
    });
  }
}

/** Opens or creates it. A damaged or foreign file is deleted, because the index can be built again. */
export function openIndexFile(file: string): IndexFile {
  try {
    return openSound(file);
  } catch (error) {
    if (!isBroken(error)) throw asDiskError(file, error);
    removeIndexFile(file);
    return openSound(file);
  }
}

export function removeIndexFile(file: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${file}${suffix}`, { force: true });
}

/** The file is damaged or not one of our indexes. */
export function isBroken(error: unknown): boolean {
  if (error instanceof OpenClawError) return error.code === "memory.other-shape";
  if (!(error instanceof Error) || !("errcode" in error)) return false;
  const code = Number(error.errcode) & 0xff;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

function openSound(file: string): IndexFile {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // The vector code loads its extension and then forbids further ones.
  const database = new DatabaseSync(file, { timeout: 2000, allowExtension: true });
  try {
    chmodSync(file, 0o600);
    // A lost commit is indexed again, but a torn file is not: the log is flushed before each checkpoint.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;");
    // Checkpoints are rare, because each one costs two flushes.
    database.exec(
      "PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 33554432; PRAGMA cache_size = -16384;",
    );
    makeTables(database);
    return wrap(file, database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function makeTables(database: DatabaseSync): void {
  const { user_version: shape } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  if (shape === SHAPE) return void database.prepare("SELECT count(*) FROM meta").get();
  const { tables } = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as { tables: number };
  if (shape !== 0 || tables > 0)
    throw new OpenClawError("memory.other-shape", "the index was created by another version", {
      hint: "openclaw memory index",
    });
  database.exec(`BEGIN;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    -- mark: size, times and identity as they were when the file was read; a file with the same mark is not read again.
    CREATE TABLE files (
      id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, source TEXT NOT NULL, hash TEXT NOT NULL,
      mtime REAL NOT NULL, size INTEGER NOT NULL, mark TEXT NOT NULL);
    CREATE TABLE chunks (
      id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES files (id), start_line INTEGER NOT NULL,
      end_line INTEGER NOT NULL, text TEXT NOT NULL, hash TEXT NOT NULL);
    CREATE INDEX chunks_by_file ON chunks (file);
    CREATE INDEX chunks_by_hash ON chunks (hash);
    -- Its text is chunks.text, spaced for scripts that write without spaces; the words alone are kept here.
    CREATE VIRTUAL TABLE words USING fts5 (
      text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2');
    PRAGMA user_version = ${SHAPE};
    COMMIT;`);
}

function wrap(file: string, database: DatabaseSync): IndexFile {
  const get = database.prepare("SELECT value FROM meta WHERE key = ?");
  const set = database.prepare("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value");
  return {
    file,
    database,
    meta: (key) => get.get(key)?.["value"] as string | undefined,
    setMeta: (key, value) => void set.run(key, value),
    close: () => database.close(),
  };
}

function asDiskError(file: string, error: unknown): unknown {
  if (error instanceof OpenClawError) return error;
  const isSqlite = error instanceof Error && "errcode" in error;
  return isSqlite || errnoOf(error) !== undefined ? diskError(file, error) : error;
}
