// Converts database and file errors into store errors, one code per remedy.
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
const IO_FSYNC = 1034;
const IO_DIR_FSYNC = 1290;
// The index of the log lives in a file that is grown before it is mapped; no room for it is a full disk, not a bad one.
const IO_SHM_SIZE = 4874;

/** Returns OpenClawErrors and errors unrelated to the disk unchanged. */
export function toStoreError(file: string, cause: unknown): unknown {
  if (cause instanceof OpenClawError) return cause;
  return fromErrno(file, errnoOf(cause), cause) ?? fromSqlite(file, sqliteCodeOf(cause), cause) ?? cause;
}

/** After a failed fsync the kernel may have dropped what it could not write: nothing later can be promised. */
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
      return new OpenClawError("store.damaged", `the store ${file} has a damaged part`, {
        cause,
        hint: "openclaw doctor",
        details: { file },
      });
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

/** A disk can be full of files: then there is room, but no new name, and SQLite only says that it cannot open one. */
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
  const needed = neededBytes === undefined ? "" : ` (${Math.ceil(neededBytes / 1_000_000)} MB are needed)`;
  return new OpenClawError("store.full", `no space left for the store ${file}${needed}`, {
    cause,
    hint: whatToDelete(file),
    details: { file, ...(neededBytes === undefined ? {} : { neededBytes }) },
  });
}

export function readOnly(file: string, cause?: unknown): OpenClawError {
  return new OpenClawError("store.read-only", `may not write the store ${file}`, {
    cause,
    hint: `make it and its folder writable: chmod u+rwx ${dirname(file)} && chmod u+rw ${file}`,
    details: { file },
  });
}

export function notAFile(file: string, cause?: unknown): OpenClawError {
  return new OpenClawError("store.not-a-file", `${file} is a folder or a special file, not a store`, {
    cause,
    hint: "move it away; the next start makes a new store, or put a backup there: openclaw store restore <file>",
    details: { file },
  });
}

function broken(file: string, cause: unknown): OpenClawError {
  return new OpenClawError("store.io", `the disk failed while the store ${file} was used`, {
    cause,
    hint: "check the disk (dmesg), then restart the gateway",
    details: { file, sqlite: sqliteCodeOf(cause) },
  });
}

function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}
