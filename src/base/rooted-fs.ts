// File access bound to a root: no path and no link leads out of it, not even one swapped between check and use.
import { constants, type BigIntStats } from "node:fs";
import { opendir, type FileHandle } from "node:fs/promises";
import { resolve } from "node:path";

import { OpenClawError } from "../core/error.ts";
import { openAnchor, type Anchor, type AnchorKind } from "./rooted-anchor.ts";
import { errnoError, failed, fileError } from "./rooted-error.ts";
import { checkRemoval, makeFolder, removeEmptyFolder, removeFile, renameFile } from "./rooted-name.ts";
import { walk, type PathCheck, type Place, type WalkRoot } from "./rooted-walk.ts";
import { hardLink, requireWritable, stageWrite, versionOf, type Staged, type WriteOptions } from "./rooted-write.ts";

export type { Access, PathCheck, Visit } from "./rooted-walk.ts";
export type { Staged, WriteOptions } from "./rooted-write.ts";

export interface RootOptions {
  /** Absolute. `/` means the whole disk: links are followed anywhere, and only the check denies access. */
  readonly root: string;
  /** Called before anything is opened or changed. Default: allows everything below the root. */
  readonly check?: PathCheck;
  /** The fix that denials name. */
  readonly outsideHint?: string;
  /**
   * Files with several hard links are rejected below a root; where this returns true (for a path below the root), they
   * may be read.
   */
  mayShare?(real: string): boolean;
  /** The kind of handles; chosen by platform unless a test sets it. */
  readonly anchors?: AnchorKind;
}

export type EntryKind = "file" | "directory" | "link" | "other";

export interface FileFacts {
  readonly kind: EntryKind;
  /** With links resolved. */
  readonly real: string;
  readonly size: number;
  readonly mode: number;
  readonly modifiedMs: number;
  /** Changes whenever the file does; see `WriteOptions.version`. */
  readonly version: string;
}

export interface OpenFile extends FileFacts {
  /** The caller closes it. */
  readonly handle: FileHandle;
}

/** All paths: relative to the root, or absolute and below it. All failures: OpenClawError `fs.*`. */
export interface Root {
  readonly root: string;
  /** The root with its links resolved. */
  readonly real: string;
  /** Undefined when there is no such file. Follows links. */
  stat(path: string): Promise<FileFacts | undefined>;
  /**
   * Throws what a write would reject, before changing anything; otherwise returns the target path, the key for
   * serializing work on a file.
   */
  checkWrite(path: string): Promise<string>;
  /** Regular files only; devices and pipes are never opened. */
  open(path: string): Promise<OpenFile>;
  /** The whole file, or `fs.too-large`. */
  read(
    path: string,
    limits: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<FileFacts & { readonly bytes: Buffer }>;
  /** At most `max` names in directory order. */
  list(
    path: string,
    max: number,
  ): Promise<{
    readonly entries: readonly { readonly name: string; readonly kind: EntryKind }[];
    readonly more: boolean;
  }>;
  /** Creates parent folders. Readers see the old or the new content, never a mixture. */
  write(
    path: string,
    bytes: Uint8Array,
    options?: WriteOptions,
  ): Promise<{ readonly real: string; readonly created: boolean }>;
  /** The first half of a write, for changes to several files. */
  stage(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<Staged>;
  /** Throws what the removal of a regular file would reject, before changing anything; rejects links. */
  checkRemove(path: string): Promise<{ readonly real: string; readonly version: string }>;
  /** False when it is not an empty folder. */
  removeFolder(path: string): Promise<boolean>;
  /** Removes a file, or a link itself. */
  remove(path: string): Promise<void>;
  /** Moves a file, or a link itself; creates folders, rejects an existing target (`fs.exists`). */
  rename(from: string, to: string): Promise<void>;
  /** Creates a folder and its parents; succeeds when it exists. */
  makeFolder(path: string): Promise<void>;
  close(): void;
}

export async function openRoot(options: RootOptions): Promise<Root> {
  const given = resolve(options.root);
  const anchor = await openAnchor(given, options.anchors).catch((error: unknown) => {
    throw fileError(given, "read", error);
  });
  const bound = given !== "/";
  const root: WalkRoot = {
    anchor,
    given,
    bound,
    outsideHint: options.outsideHint ?? `use a path inside ${given}`,
    check: options.check ?? (() => undefined),
  };
  const mayShare = (real: string): boolean => !bound || options.mayShare?.(real) === true;
  const open = (path: string): Promise<OpenFile> =>
    settled(() => at(root, path, (place) => openFile(root, path, place, mayShare)));
  return {
    root: given,
    real: anchor.real,
    stat: (path) => at(root, path, (place) => readable(root, place)),
    checkWrite: (path) =>
      at(root, path, (place) => {
        requireWritable(root, path, place, {});
        return place.real;
      }),
    open,
    async read(path, limits) {
      const { handle, ...facts } = await open(path);
      try {
        return { ...facts, bytes: await readBounded(handle, path, limits) };
      } finally {
        await handle.close();
      }
    },
    list: (path, max) => at(root, path, (place) => listFolder(root, path, place, max)),
    stage: (path, bytes, writeOptions) => stageWrite(root, path, bytes, writeOptions),
    async write(path, bytes, writeOptions) {
      const staged = await stageWrite(root, path, bytes, writeOptions);
      await staged.commit();
      return { real: staged.real, created: staged.created };
    },
    checkRemove: (path) => checkRemoval(root, path),
    removeFolder: (path) => removeEmptyFolder(root, path),
    remove: (path) => removeFile(root, path),
    rename: (from, to) => renameFile(root, from, to),
    makeFolder: (path) => makeFolder(root, path),
    close: () => anchor.close(),
  };
}

async function at<T>(root: WalkRoot, path: string, use: (place: Place) => T | Promise<T>): Promise<T> {
  const place = await walk(root, path);
  try {
    return await use(place);
  } catch (error) {
    throw fileError(path, "read", error);
  } finally {
    place.close();
  }
}

const MAX_OPENS = 5;

/** Opens a file again when it is replaced during the open, so that a writer does not fail a reader. */
async function settled<T>(open: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await open();
    } catch (error) {
      if (tries >= MAX_OPENS || !(error instanceof OpenClawError && error.code === "fs.changed")) throw error;
    }
  }
}

function readable(root: WalkRoot, { entry, real, trail }: Place): FileFacts | undefined {
  root.check({ access: "read", real, trail });
  return entry === undefined ? undefined : factsOf(entry);
}

function factsOf(entry: Anchor): FileFacts {
  const { stats, real } = entry;
  return {
    kind: kindOf(stats),
    real,
    size: Number(stats.size),
    mode: Number(stats.mode & 0o7777n),
    modifiedMs: Number(stats.mtimeMs),
    version: versionOf(entry),
  };
}

function kindOf(stats: Pick<BigIntStats, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "other";
}

async function openFile(
  root: WalkRoot,
  path: string,
  place: Place,
  mayShare: (real: string) => boolean,
): Promise<OpenFile> {
  const facts = readable(root, place);
  const { entry } = place;
  if (facts === undefined || entry === undefined) throw errnoError(path, "read", "ENOENT");
  if (facts.kind === "directory") throw errnoError(path, "read", "EISDIR");
  if (facts.kind !== "file") throw errnoError(path, "read", "ENODEV");
  if (entry.stats.nlink > 1n && !mayShare(facts.real)) throw hardLink(root, path);
  // A second hard link may be removed before links are counted: the count is valid only for a file that still has the
  // requested name.
  if (root.bound) await entry.verify();
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
  return { ...facts, handle: await entry.reopen(O_RDONLY | O_NONBLOCK | O_NOCTTY) };
}

const CHUNK_BYTES = 1 << 18;

/** Counts the received bytes instead of trusting the size: a file may grow, and /proc files report size 0. */
async function readBounded(
  handle: FileHandle,
  path: string,
  limits: { readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let total = 0;
  while (total <= limits.maxBytes) {
    limits.signal?.throwIfAborted();
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, limits.maxBytes + 1 - total));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, total);
    if (bytesRead === 0) return Buffer.concat(chunks, total);
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
  }
  throw failed("fs.too-large", path, `is larger than ${limits.maxBytes} bytes`, "use a part of it, or a smaller file");
}

async function listFolder(root: WalkRoot, path: string, place: Place, max: number): ReturnType<Root["list"]> {
  const { entry } = place;
  readable(root, place);
  if (entry === undefined) throw errnoError(path, "read", "ENOENT");
  if (!entry.stats.isDirectory()) throw errnoError(path, "read", "ENOTDIR");
  const entries: { name: string; kind: EntryKind }[] = [];
  for await (const found of await opendir(entry.at("."))) {
    if (entries.length >= max) return { entries, more: true };
    entries.push({ name: found.name, kind: kindOf(found) });
  }
  await entry.verify();
  return { entries, more: false };
}
