// The files of a store on disk: private files in a private folder, and the space they need.
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { syncFolder } from "../base/atomic-file.ts";
import { errnoOf, OpenClawError } from "../core/error.ts";
import { full, notAFile, toStoreError } from "./failure.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
// Space for a change in addition to the copy itself: file system bookkeeping and a few pages of log.
const SLACK_BYTES = 1_000_000;

/** The store file of a state folder. */
export const storeFileOf = (stateFolder: string): string => join(stateFolder, "openclaw.sqlite");

/** The files SQLite keeps beside a store. */
export const companions = (file: string): string[] => [`${file}-wal`, `${file}-shm`];

/** Creates folder and file when missing, makes the file private, and rejects an unwritable path by name. */
export function prepareStoreFile(file: string): void {
  try {
    // Checked first: creating folders on a read-only disk fails with a misleading "no such file".
    accessSync(nearestFolder(dirname(file)), constants.W_OK | constants.X_OK);
    mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE });
    createPrivateFile(file);
    requireFile(file);
    accessSync(file, constants.R_OK | constants.W_OK);
    if ((statSync(file).mode & 0o777) !== FILE_MODE) chmodSync(file, FILE_MODE);
  } catch (cause) {
    throw toStoreError(file, cause);
  }
}

/** Throws `store.missing` when there is no file, `store.not-a-file` for a folder or special file. */
export function requireFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined)
    throw new OpenClawError("store.missing", `there is no store at ${file}`, { details: { file } });
  if (!found.isFile()) throw notAFile(file);
}

function nearestFolder(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestFolder(dirname(path));
}

/** SQLite gives a log the mode of its store, so only the store itself needs to be made private. */
export function createPrivateFile(file: string): void {
  // Never opened when it exists: closing a descriptor would drop this process's locks on it.
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, "wx", FILE_MODE));
    syncFolder(dirname(file));
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
  }
}

/** Throws `store.full` when the disk has no space for `copies` of the store. */
export function requireRoom(file: string, folder: string, copies: number): void {
  const neededBytes = copies * sizeOf(file) + SLACK_BYTES;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < neededBytes) throw full(file, undefined, neededBytes);
}

/** The store and its log. */
export function sizeOf(file: string): number {
  return [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/**
 * A hard link to the same file, so that a rename over the first name loses nothing. `copy` is for disks without links.
 */
export function giveSecondName(file: string, name: string, copy: () => void): void {
  try {
    linkSync(file, name);
  } catch (cause) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "ENOSYS"].includes(errnoOf(cause) ?? "")) throw cause;
    copy();
    flushFile(name);
  }
  syncFolder(dirname(name));
}

/** Only for files that no connection of this process has open: closing a descriptor drops its locks. */
export function flushFile(file: string): void {
  const descriptor = openSync(file, "r+");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function removeStore(file: string): void {
  for (const path of [file, `${file}-journal`, ...companions(file)]) rmSync(path, { force: true });
}
