// Atomic whole-file writes: temp file in the same folder, fsync, rename, fsync of the folder.
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { newSecret } from "./ids.ts";

/**
 * Private by default (0600). On failure throws OpenClawError `file.full`, `file.read-only` or `file.failed` and keeps
 * the old file.
 */
export function writeFileAtomic(path: string, bytes: string | Uint8Array, mode = 0o600): void {
  const folder = dirname(path);
  const temp = join(folder, `.${basename(path)}.${newSecret(6)}.tmp`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const fd = openSync(temp, "wx", mode);
    try {
      const buffer = typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes;
      for (let at = 0; at < buffer.length;) at += writeSync(fd, buffer, at);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temp, path);
    syncFolder(folder);
  } catch (cause) {
    rmSync(temp, { force: true });
    throw diskError(path, cause);
  }
}

/** Converts a system error of a write into an OpenClawError with a fix. */
export function diskError(path: string, cause: unknown): OpenClawError {
  const errno = errnoOf(cause);
  if (errno === "ENOSPC" || errno === "EDQUOT") {
    return new OpenClawError("file.full", `no space left to write ${path}`, {
      cause,
      hint: `free some space on that disk, then retry`,
    });
  }
  if (errno === "EROFS" || errno === "EACCES" || errno === "EPERM") {
    return new OpenClawError("file.read-only", `no permission to write ${path} (${errno})`, {
      cause,
      hint: `make the folder writable: chmod u+w ${dirname(path)}`,
    });
  }
  return new OpenClawError(
    "file.failed",
    `could not write ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    { cause },
  );
}

/** Makes a rename or a new file in `folder` survive a power failure. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
