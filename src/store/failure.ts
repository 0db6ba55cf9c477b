// Converts database and file errors into store errors, one code per fix.
import { statfsSync } from "node:fs";
import { dirname } from "node:path";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { whatToDelete } from "./leftovers.ts";

// https://www.sqlite.org/rescode.html
const FULL = 13;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CANNOT_OPEN = 14;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
const BUSY = 5;
const LOCKED = 6;
const LOGIC_ERROR = 1;
const NO_MEMORY = 7;
const TOO_BIG = 18;
const IO_FSYNC = 1034;
const IO_DIR_FSYNC = 1290;
// The index of the log is a file that grows before it is mapped; a failure to grow it means a full disk, not a bad one.
const IO_SHM_SIZE = 4874;

/** Returns OpenClawErrors and errors unrelated to the disk unchanged. */
export function toStoreError(file: string, cause: unknown): unknown {
  if (cause instanceof OpenClawError) return cause;
  return fromErrno(file, errnoOf(cause), cause) ?? fromSqlite(file, sqliteCodeOf(cause), cause) ?? cause;
}

/** For a query: the store has no value of this size, so a damaged record claims it. */
export function toReadError(file: string, cause: unknown): unknown {
  const code = sqliteCodeOf(cause);
  const isImpossible = code === NO_MEMORY || code === TOO_BIG || errnoOf(cause) === "ERR_OUT_OF_RANGE";
  return isImpossible ? damagedPart(file, cause) : cause;
}

/** For a query of the schema: its text is valid SQL, so SQLite rejects the header or the schema of the file. */
export function toSchemaError(file: string, cause: unknown): unknown {
  return sqliteCodeOf(cause) === LOGIC_ERROR ? damagedPart(file, cause) : cause;
}

/** After a failed fsync the kernel may have dropped unwritten data, so later writes cannot be guaranteed. */
export function isLossOfTrust(error: unknown): boolean {
  const code = error instanceof OpenClawError ? sqliteCodeOf(error.cause) : undefined;
  return code === IO_FSYNC || code === IO_DIR_FSYNC;
}

function fromErrno(file: string, errno: string | undefined, cause: unknown): OpenClawError | undefined {
  if (errno === "ENOSPC" || errno === "EDQUOT") return full(file, cause);
  if (errno === "EROFS" || errno === "EACCES" || errno === "EPERM") return readOnly(file, cause);
  if (errno === "EIO") return broken(file, cause);
  if (errno === "EISDIR" || errno === "ERR_FS_EISDIR") return notAFile(file, cause);
  return undefined;
}

function fromSqlite(file: string, code: number | undefined, cause: unknown): OpenClawError | undefined {
  if (code === undefined) return undefined;
  if (code === IO_SHM_SIZE) return full(file, cause);
  switch (code & 0xff) {
    case FULL:
      return full(file, cause);
    case READ_ONLY:
      return readOnly(file, cause);
    case CANNOT_OPEN:
      return hasNames(dirname(file)) ? broken(file, cause) : full(file, cause);
    case IO_ERROR:
      return broken(file, cause);
    case CORRUPT:
    case NOT_A_DATABASE:
      return damagedPart(file, cause);
    case BUSY:
    case LOCKED:
      return new OpenClawError("store.busy", `another process is writing to ${file}`, {
        cause,
        hint: "stop the other openclaw process, then retry",
        details: { file },
      });
    default:
      return undefined;
  }
}

function damagedPart(file: string, cause: unknown): OpenClawError {
  return new OpenClawError("store.damaged", `the store ${file} has a damaged part`, {
    cause,
    hint: "openclaw doctor",
    details: { file },
  });
}

/** A disk can run out of inodes: it has free space but no new files, and SQLite reports only that it cannot open one. */
function hasNames(folder: string): boolean {
  try {
    const { files, ffree } = statfsSync(folder);
    return files === 0 || ffree > 0;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return true;
  }
}

export function full(file: string, cause?: unknown, neededBytes?: number): OpenClawError {
  const needed = neededBytes === undefined ? "" : ` (${Math.ceil(neededBytes / 1_000_000)} MB needed)`;
  return new OpenClawError("store.full", `no space left for the store ${file}${needed}`, {
    cause,
    hint: whatToDelete(file),
    details: { file, ...(neededBytes === undefined ? {} : { neededBytes }) },
  });
}

export function readOnly(file: string, cause?: unknown): OpenClawError {
  return new OpenClawError("store.read-only", `no permission to write the store ${file}`, {
    cause,
    hint: `make it and its folder writable: chmod u+rwx ${dirname(file)} && chmod u+rw ${file}`,
    details: { file },
  });
}

export function notAFile(file: string, cause?: unknown): OpenClawError {
  return new OpenClawError("store.not-a-file", `${file} is a folder or a special file, not a store`, {
    cause,
    hint: "move it away; the next start creates a new store, or put a backup there: openclaw store restore <file>",
    details: { file },
  });
}

/** A flush outside of SQLite that failed: a loss of trust as well. */
export const flushFailed = (file: string, cause: unknown): OpenClawError => broken(file, cause);

function broken(file: string, cause: unknown): OpenClawError {
  return new OpenClawError("store.io", `the disk failed during an operation on the store ${file}`, {
    cause,
    hint: "check the disk (dmesg), then restart the gateway",
    details: { file, sqlite: sqliteCodeOf(cause) },
  });
}

function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}
