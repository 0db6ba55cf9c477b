// Walking memory files folder by folder through held handles: no link is followed, nothing outside the roots is opened.
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats } from "node:fs";

import { errnoOf } from "../core/error.ts";
import { openAnchor, type Anchor } from "../base/rooted-anchor.ts";
import type { SkippedFile } from "./memory.ts";
import { curatedNames, isNote, isWalked, type MemoryRoot } from "./roots.ts";

/** Larger ones are left out and named: a note of a person is a page, not a database. */
export const MAX_NOTE_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 32;

export interface FoundNote {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  /** Changes whenever the file does. */
  readonly mark: string;
  /** Undefined when it is gone, or no plain file any more. */
  read(): Buffer | undefined;
}

export interface NoteVisitor {
  /** May take its time; the folder is held until it is done. */
  note(note: FoundNote): Promise<void> | void;
  /** A folder that is walked, for who wants to watch it. */
  folder?(path: string, prefix: string, root: MemoryRoot): void;
  skip?(skipped: SkippedFile): void;
}

/** Throws `fs.changed` when a folder is moved meanwhile. A root that is not there holds no notes. */
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
  if (entries === undefined) return visitor.skip?.({ path: prefix, why: "may not be read" });
  for (const entry of entries) {
    if (entry.isDirectory() && isWalked(entry.name)) {
      if (isTop && root.only !== undefined && root.into?.includes(entry.name) !== true) continue;
      if (depth >= MAX_DEPTH) visitor.skip?.({ path: prefix + entry.name, why: "folders too deep" });
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

/** Undefined when the folder may not be listed: that is no reason to leave out the others. */
function allEntries(folder: Anchor): { name: string; isDirectory(): boolean }[] | undefined {
  try {
    return readdirSync(folder.at("."), { withFileTypes: true });
  } catch (error) {
    return nothingThere(error);
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

/** The few names that count, looked for one by one: a workspace may hold a hundred thousand others. */
function topEntries(folder: Anchor, { only = [], into = [] }: MemoryRoot): { name: string; isDirectory(): boolean }[] {
  const found = [...only, ...into].flatMap((name) => {
    const stats = statsIn(folder, name);
    return stats === undefined ? [] : [{ name, isDirectory: () => stats.isDirectory() }];
  });
  const curated = found.find(({ name }) => name === curatedNames[0]);
  // Under its second name only when the first is not there; a disk that folds case has one file under both.
  return curated === undefined ? found : found.filter(({ name }) => name !== curatedNames[1]);
}

async function openRootAnchor(path: string): Promise<Anchor | undefined> {
  return openAnchor(path).catch(nothingThere);
}

/** A link is held as a link and is no folder. */
async function subfolder(folder: Anchor, name: string): Promise<Anchor | undefined> {
  const child = await folder.child(name).catch(nothingThere);
  if (child === undefined || child.stats.isDirectory()) return child;
  child.close();
  return undefined;
}

function nothingThere(error: unknown): undefined {
  const errno = errnoOf(error);
  if (errno === "ENOENT" || errno === "ENOTDIR" || errno === "EACCES") return undefined;
  throw error;
}

function statsIn(folder: Anchor, name: string): Stats | undefined {
  try {
    return lstatSync(folder.at(name));
  } catch (error) {
    return nothingThere(error);
  }
}

function whySkipped(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return "is a link";
  if (!stats.isFile()) return "is no plain file";
  if (stats.nlink > 1) return "has several names";
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

/** The file that was looked at, or nothing: what was put in its place meanwhile is found by the next look. */
function readNote(path: string, looked: Stats): Buffer | undefined {
  const fd = openPlain(path);
  if (fd === undefined) return undefined;
  try {
    const stats = fstatSync(fd);
    if (whySkipped(stats) !== undefined || stats.ino !== looked.ino || stats.dev !== looked.dev) return undefined;
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
    return errnoOf(error) === "ELOOP" ? undefined : nothingThere(error);
  }
}
