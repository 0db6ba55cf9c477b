// Walks memory files through directory handles: does not follow links and opens no file outside the roots.
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats } from "node:fs";

import { errnoOf } from "../core/error.ts";
import { openAnchor, type Anchor } from "../base/rooted-anchor.ts";
import type { SkippedFile } from "./memory.ts";
import { curatedNames, isNote, isWalked, type MemoryRoot } from "./roots.ts";

/** Larger files are skipped and reported: notes are pages, not databases. */
export const MAX_NOTE_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 32;

export interface FoundNote {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** Changes whenever the file does. */
  readonly mark: string;
  /** Undefined when the file is gone or no longer a regular file. */
  read(): Buffer | undefined;
}

export interface NoteVisitor {
  /** The folder stays open until this is done. */
  note(note: FoundNote): Promise<void> | void;
  /** Called for each folder, so that it can be watched. */
  folder?(path: string, prefix: string, root: MemoryRoot): void;
  skip?(skipped: SkippedFile): void;
}

/** Throws `fs.changed` when a folder is moved meanwhile. A missing root has no notes. */
export async function walkNotes(root: MemoryRoot, visitor: NoteVisitor): Promise<void> {
  const anchor = await openRootAnchor(root.folder);
  if (anchor === undefined) return;
  try {
    await walkFolder(anchor, root, root.prefix, visitor, 0);
  } finally {
    anchor.close();
  }
}

/** One file by its names below the root, as `walkNotes` would find it. Undefined when there is none. */
export async function visitNote<T>(
  root: MemoryRoot,
  names: readonly string[],
  use: (note: FoundNote) => T | Promise<T>,
): Promise<T | undefined> {
  const held: Anchor[] = [];
  try {
    let folder = await openRootAnchor(root.folder);
    for (const name of names.slice(0, -1)) {
      if (folder === undefined) return undefined;
      held.push(folder);
      folder = await subfolder(folder, name);
    }
    if (folder === undefined) return undefined;
    held.push(folder);
    const name = names.at(-1) ?? "";
    const stats = statsIn(folder, name);
    if (stats === undefined || whySkipped(stats) !== undefined) return undefined;
    return await use(noteIn(folder, name, root.prefix + names.join("/"), stats));
  } finally {
    for (const anchor of held) anchor.close();
  }
}

async function walkFolder(
  folder: Anchor,
  root: MemoryRoot,
  prefix: string,
  visitor: NoteVisitor,
  depth: number,
): Promise<void> {
  const isTop = depth === 0;
  visitor.folder?.(folder.real, prefix, root);
  const entries = isTop && root.only !== undefined ? topEntries(folder, root) : allEntries(folder);
  if (entries === undefined) return visitor.skip?.({ path: prefix, why: "not readable" });
  for (const entry of entries) {
    if (entry.isDirectory() && isWalked(entry.name)) {
      if (isTop && root.only !== undefined && root.into?.includes(entry.name) !== true) continue;
      if (depth >= MAX_DEPTH) visitor.skip?.({ path: prefix + entry.name, why: "nested too deep" });
      else await walkBelow(folder, root, prefix, entry.name, visitor, depth + 1);
      continue;
    }
    if (!isNote(entry.name)) continue;
    const stats = statsIn(folder, entry.name);
    if (stats === undefined) continue;
    const why = whySkipped(stats);
    if (why !== undefined) visitor.skip?.({ path: prefix + entry.name, why });
    else await visitor.note(noteIn(folder, entry.name, prefix + entry.name, stats));
  }
  await folder.verify();
}

/** Undefined when the folder cannot be listed; the others are still walked. */
function allEntries(folder: Anchor): { name: string; isDirectory(): boolean }[] | undefined {
  try {
    return readdirSync(folder.at("."), { withFileTypes: true });
  } catch (error) {
    return ignoreMissing(error);
  }
}

async function walkBelow(
  folder: Anchor,
  root: MemoryRoot,
  prefix: string,
  name: string,
  visitor: NoteVisitor,
  depth: number,
): Promise<void> {
  const below = await subfolder(folder, name);
  if (below === undefined) return;
  try {
    await walkFolder(below, root, `${prefix}${name}/`, visitor, depth);
  } finally {
    below.close();
  }
}

/** Looks up the few relevant names one by one, because a workspace may hold very many files. */
function topEntries(folder: Anchor, { only = [], into = [] }: MemoryRoot): { name: string; isDirectory(): boolean }[] {
  const found = [...only, ...into].flatMap((name) => {
    const stats = statsIn(folder, name);
    return stats === undefined ? [] : [{ name, isDirectory: () => stats.isDirectory() }];
  });
  const curated = found.find(({ name }) => name === curatedNames[0]);
  // The second name counts only without the first; a case-insensitive disk has one file under both.
  return curated === undefined ? found : found.filter(({ name }) => name !== curatedNames[1]);
}

async function openRootAnchor(path: string): Promise<Anchor | undefined> {
  return openAnchor(path).catch(ignoreMissing);
}

/** A link is opened as a link and does not count as a folder. */
async function subfolder(folder: Anchor, name: string): Promise<Anchor | undefined> {
  const child = await folder.child(name).catch(ignoreMissing);
  if (child === undefined || child.stats.isDirectory()) return child;
  child.close();
  return undefined;
}

function ignoreMissing(error: unknown): undefined {
  const errno = errnoOf(error);
  if (errno === "ENOENT" || errno === "ENOTDIR" || errno === "EACCES") return undefined;
  throw error;
}

function statsIn(folder: Anchor, name: string): Stats | undefined {
  try {
    return lstatSync(folder.at(name));
  } catch (error) {
    return ignoreMissing(error);
  }
}

function whySkipped(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return "is a link";
  if (!stats.isFile()) return "is not a regular file";
  if (stats.nlink > 1) return "has more than one hard link";
  return stats.size > MAX_NOTE_BYTES ? `is larger than ${MAX_NOTE_BYTES} bytes` : undefined;
}

function noteIn(folder: Anchor, name: string, path: string, stats: Stats): FoundNote {
  return {
    path,
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    mark: `${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}:${stats.ino}`,
    read: () => readNote(folder.at(name), stats),
  };
}

/** Undefined when another file has taken its place; the next scan finds that one. */
function readNote(path: string, seen: Stats): Buffer | undefined {
  const fd = openPlain(path);
  if (fd === undefined) return undefined;
  try {
    const stats = fstatSync(fd);
    if (whySkipped(stats) !== undefined || stats.ino !== seen.ino || stats.dev !== seen.dev) return undefined;
    const bytes = Buffer.allocUnsafe(Math.min(stats.size, MAX_NOTE_BYTES));
    let at = 0;
    for (let got = -1; got !== 0 && at < bytes.length; at += got) got = readSync(fd, bytes, at, bytes.length - at, at);
    return bytes.subarray(0, at);
  } finally {
    closeSync(fd);
  }
}

function openPlain(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return errnoOf(error) === "ELOOP" ? undefined : ignoreMissing(error);
  }
}
