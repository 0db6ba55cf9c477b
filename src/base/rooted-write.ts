// Whole-file writes below a root: temp file through the folder's handle, fsync, rename, fsync of the folder.
import { constants, fstatSync } from "node:fs";
import { access, open, rename, type FileHandle } from "node:fs/promises";

import { errnoOf } from "../core/error.ts";
import { systemClock } from "./clock.ts";
import { idOf, type Anchor } from "./rooted-anchor.ts";
import { errnoError, failed, fileError, refused } from "./rooted-error.ts";
import { makeBelow, syncFolder, type Made } from "./rooted-folder.ts";
import { forgetTemp, newTempName, removeTemp, sweepTemps } from "./rooted-temp.ts";
import { walk, type Place, type WalkRoot } from "./rooted-walk.ts";

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** For new files; an existing file keeps its own. Default: 0666 minus the umask. */
  readonly mode?: number;
  /** Set on the file, new or not, regardless of the umask. */
  readonly exactMode?: number;
  /** Rejects (`fs.exists`) when the name is taken. */
  readonly mustBeNew?: boolean;
  /** Rejects (`fs.changed`) when the file differs from the one that was read: pass the `version` of that read. */
  readonly version?: string;
}

/** Content on the disk that is not visible yet. Exactly one of commit and discard must be called, once. */
export interface Staged {
  readonly real: string;
  /** There was no file of that name before. */
  readonly created: boolean;
  /** Path of the staged content, with links resolved. */
  readonly temp: string;
  /** The `FileFacts.version` that the file will have. */
  readonly version: string;
  /** Readers see the old or the new file, never a mixture; when it returns, the new one survives a power failure. */
  commit(): Promise<void>;
  discard(): Promise<void>;
}

export async function stageWrite(
  root: WalkRoot,
  path: string,
  bytes: Uint8Array,
  options: WriteOptions = {},
): Promise<Staged> {
  const place = await walk(root, path);
  try {
    requireWritable(root, path, place, options);
    if (place.entry !== undefined) await requireUnlocked(place.entry);
    const made = await makeBelow(place.folder, place.missing, path);
    return await stageIn(made, { path, place, bytes, options });
  } catch (error) {
    place.close();
    throw fileError(path, "write", error);
  }
}

/** Checks everything that a write requires, before any change. */
export function requireWritable(root: WalkRoot, path: string, place: Place, options: WriteOptions): void {
  const { entry, real, trail } = place;
  requireNoDangling(path, place);
  if (place.asFolder || entry?.stats.isDirectory() === true) throw errnoError(path, "write", "EISDIR");
  if (entry !== undefined && options.mustBeNew === true) throw taken(path);
  if (entry !== undefined && !entry.stats.isFile()) throw errnoError(path, "write", "ENODEV");
  if (root.bound && entry !== undefined && entry.stats.nlink > 1n) throw hardLink(root, path);
  if (options.version !== undefined && (entry === undefined || versionOf(entry) !== options.version))
    throw changed(path);
  root.check({ access: "write", real, trail });
}

/** A file created through a dangling link would appear in an unexpected place. */
export function requireNoDangling(path: string, { dangling }: Place): void {
  if (!dangling) return;
  throw refused("fs.link", path, "runs through a dangling link", {
    hint: "name the target itself, or remove the link",
  });
}

export function hardLink(root: WalkRoot, path: string): Error {
  return refused("fs.link", path, "has a second name (hard link), which may be outside", { hint: root.outsideHint });
}

/** Changes whenever the file does. */
export function versionOf({ stats }: Pick<Anchor, "stats">): string {
  return `${idOf(stats)}:${stats.size}:${stats.mtimeNs}`;
}

function taken(path: string): Error {
  return failed("fs.exists", path, "already exists", "use another name, or change the existing file");
}

function changed(path: string): Error {
  return failed(
    "fs.changed",
    path,
    "was changed by another program in the meantime; nothing was written",
    "read it again, then repeat the change",
  );
}

/** A rename needs only permission on the folder, so a read-only file is rejected here. */
async function requireUnlocked(entry: Anchor): Promise<void> {
  await access(entry.self, constants.W_OK);
}

interface Writing {
  readonly path: string;
  readonly place: Place;
  readonly bytes: Uint8Array;
  readonly options: WriteOptions;
}

async function stageIn(made: Made, writing: Writing): Promise<Staged> {
  const { folder } = made;
  const temp = newTempName();
  try {
    await sweepTemps(folder, systemClock.now());
    await folder.verify();
    const version = await writeTemp(folder.at(temp), writing);
    return stagedFile(made, { temp, version }, writing);
  } catch (error) {
    await removeTemp(folder, temp);
    await made.undo();
    throw error;
  }
}

async function writeTemp(temp: string, { bytes, place, options }: Writing): Promise<string> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const mode = place.entry === undefined ? (options.mode ?? 0o666) : 0o600;
  const handle = await open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    await writeAll(handle, bytes, options.signal);
    if (place.entry !== undefined) await likeOld(handle, place.entry);
    if (options.exactMode !== undefined) await handle.chmod(options.exactMode);
    await handle.sync();
    // A rename changes no part of a version.
    return versionOf({ stats: fstatSync(handle.fd, { bigint: true }) });
  } finally {
    await handle.close();
  }
}

const CHUNK_BYTES = 1 << 20;

async function writeAll(handle: FileHandle, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    signal?.throwIfAborted();
    at += (await handle.write(bytes, at, Math.min(CHUNK_BYTES, bytes.length - at))).bytesWritten;
  }
  signal?.throwIfAborted();
}

/** The new file gets the permissions of the old one, and its owner where the system allows it. */
async function likeOld(handle: FileHandle, { stats }: Anchor): Promise<void> {
  const mine = await handle.stat({ bigint: true });
  if (mine.uid !== stats.uid || mine.gid !== stats.gid) {
    await handle.chown(Number(stats.uid), Number(stats.gid)).catch((error: unknown) => {
      if (errnoOf(error) !== "EPERM") throw error;
    });
  }
  await handle.chmod(Number(stats.mode & 0o777n));
}

function stagedFile(
  made: Made,
  { temp, version }: { readonly temp: string; readonly version: string },
  { path, place, options }: Writing,
): Staged {
  const { folder } = made;
  return {
    real: place.real,
    created: place.entry === undefined,
    temp: `${folder.real}/${temp}`,
    version,
    async commit() {
      try {
        options.signal?.throwIfAborted();
        await folder.verify();
        await requireSame(folder, place, path, options);
        await rename(folder.at(temp), folder.at(place.name));
        forgetTemp(temp);
        await syncFolder(folder);
        await made.sync();
        made.close();
      } catch (error) {
        await removeTemp(folder, temp);
        await made.undo();
        throw fileError(path, "write", error);
      } finally {
        place.close();
      }
    },
    async discard() {
      await removeTemp(folder, temp);
      await made.undo();
      place.close();
    },
  };
}

/** A last check right before the rename: it is still the file that was read, or the name is still free. */
async function requireSame(
  folder: Anchor,
  place: Place,
  path: string,
  { version, mustBeNew }: WriteOptions,
): Promise<void> {
  if (version === undefined && mustBeNew !== true) return;
  const now = await folder.child(place.name).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  now?.close();
  if (mustBeNew === true && now !== undefined) throw taken(path);
  if (version !== undefined && (now === undefined || versionOf(now) !== version)) throw changed(path);
}
