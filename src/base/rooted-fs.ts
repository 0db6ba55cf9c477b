// File access bound to a root: no path and no link leads out of it, not even one swapped in between check and use.
import { constants, type BigIntStats } from "node:fs";
import { opendir, type FileHandle } from "node:fs/promises";
import { resolve } from "node:path";

import { OpenClawError } from "../core/error.ts";
import { openAnchor, type Anchor, type AnchorKind } from "./rooted-anchor.ts";
import { errnoError, failed, fileError } from "./rooted-error.ts";
import { checkRemoval, makeFolder, removeEmptyFolder, removeFile, renameFile } from "./rooted-name.ts";
import { walk, type Guard, type Place, type WalkRoot } from "./rooted-walk.ts";
import { hardLink, requireWritable, stageWrite, versionOf, type Staged, type WriteOptions } from "./rooted-write.ts";

export type { Access, Guard, Visit } from "./rooted-walk.ts";
export type { Staged, WriteOptions } from "./rooted-write.ts";

export interface RootOptions {
  /** Absolute. `/` means the whole disk: links are followed wherever they lead, and only the guard refuses. */
  readonly root: string;
  /** Asked before anything is opened or changed. Default: nothing more is refused. */
  readonly guard?: Guard;
  /** The way out that refusals name. */
  readonly outsideHint?: string;
  /** Files with several names are refused below a root; where this holds (a path below the root), they may be read. */
  mayShare?(real: string): boolean;
  /** How things are held; chosen by the system unless a test says otherwise. */
  readonly anchors?: AnchorKind;
}

export type EntryKind = "file" | "directory" | "link" | "other";

export interface FileFacts {
  readonly kind: EntryKind;
  /** Links resolved. */
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
  /** Undefined when nothing is there. Links are followed. */
  stat(path: string): Promise<FileFacts | undefined>;
  /** Throws what a write would refuse before touching anything; else where it would go: the key to serialise work on a file. */
  checkWrite(path: string): Promise<string>;
  /** Regular files only. Nothing of a device or a pipe is ever opened. */
  open(path: string): Promise<OpenFile>;
  /** The whole file, or `fs.too-large`. */
  read(
    path: string,
    limits: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<FileFacts & { readonly bytes: Buffer }>;
  /** At most `max` names in the disk's order. */
  list(
    path: string,
    max: number,
  ): Promise<{
    readonly entries: readonly { readonly name: string; readonly kind: EntryKind }[];
    readonly more: boolean;
  }>;
  /** Parents are made. Old or new, never a mixture. */
  write(
    path: string,
    bytes: Uint8Array,
    options?: WriteOptions,
  ): Promise<{ readonly real: string; readonly created: boolean }>;
  /** The first half of a write, for changes to several files at once. */
  stage(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<Staged>;
  /** Throws what a removal of a regular file would refuse before touching anything; links as such are refused. */
  checkRemove(path: string): Promise<{ readonly real: string; readonly version: string }>;
  /** False when it is not an empty folder. */
  removeFolder(path: string): Promise<boolean>;
  /** Removes a file, or a link as such. */
  remove(path: string): Promise<void>;
  /** Moves a file, or a link as such; makes folders, refuses an existing target (`fs.exists`). */
  rename(from: string, to: string): Promise<void>;
  /** Makes a folder and those above it; fine when it is there. */
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
    guard: options.guard ?? (() => undefined),
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

/** A file that is replaced while it is being opened is opened again: a writer at work is no reason to fail a reader. */
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
  root.guard({ access: "read", real, trail });
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
  // A second name that was taken away again before its names were counted: only a file that still has the name asked for
  // has been counted with it.
  if (root.bound) await entry.verify();
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
  return { ...facts, handle: await entry.reopen(O_RDONLY | O_NONBLOCK | O_NOCTTY) };
}

const CHUNK_BYTES = 1 << 18;

/** Counts what arrives instead of trusting the size: a file may grow, and the system's own files claim to be empty. */
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
  throw failed(
    "fs.too-large",
    path,
    `is larger than ${limits.maxBytes} bytes`,
    "work on a part of it, or on a smaller file",
  );
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
