// Creates, removes and moves names below a root through the handles of their folders.
import { rename, rmdir, unlink } from "node:fs/promises";

import { errnoOf } from "../core/error.ts";
import { errnoError, fileError, refused } from "./rooted-error.ts";
import { makeBelow, syncFolder } from "./rooted-folder.ts";
import { walk, type Place, type WalkRoot } from "./rooted-walk.ts";
import { hardLink, requireNoDangling, requireWritable, versionOf } from "./rooted-write.ts";

export async function makeFolder(root: WalkRoot, path: string): Promise<void> {
  const place = await walk(root, path);
  try {
    if (place.entry?.stats.isDirectory() === true) return;
    if (place.entry !== undefined) throw errnoError(path, "write", "ENOTDIR");
    requireNoDangling(path, place);
    root.check({ access: "write", real: place.real, trail: place.trail });
    const made = await makeBelow(place.folder, [...place.missing, place.name], path);
    await made.sync();
    made.close();
  } catch (error) {
    throw fileError(path, "write", error);
  } finally {
    place.close();
  }
}

/** Checks everything that a removal requires, before any change: a regular file with one hard link. */
export async function checkRemoval(root: WalkRoot, path: string): Promise<{ real: string; version: string }> {
  const place = await walk(root, path, { followLast: false });
  try {
    requireOwnName(root, path, place);
    const { entry, real } = place;
    if (entry === undefined || place.asFolder) throw errnoError(path, "write", "ENOENT");
    if (entry.stats.isSymbolicLink())
      throw refused("fs.link", path, "is a link, not a file", { hint: "name the file it points at" });
    if (!entry.stats.isFile()) throw errnoError(path, "write", "ENODEV");
    if (root.bound && entry.stats.nlink > 1n) throw hardLink(root, path);
    return { real, version: versionOf(entry) };
  } finally {
    place.close();
  }
}

/** Removes an empty folder; false when it is not empty, missing or not a folder. */
export async function removeEmptyFolder(root: WalkRoot, path: string): Promise<boolean> {
  const place = await walk(root, path, { followLast: false });
  try {
    if (place.entry?.stats.isDirectory() !== true || place.name === ".") return false;
    root.check({ access: "write", real: place.real, trail: place.trail });
    await place.folder.verify();
    await rmdir(place.folder.at(place.name));
    await syncFolder(place.folder);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return false;
    throw fileError(path, "write", error);
  } finally {
    place.close();
  }
}

export async function removeFile(root: WalkRoot, path: string): Promise<void> {
  const place = await walk(root, path, { followLast: false });
  try {
    requireOwnName(root, path, place);
    await place.folder.verify();
    await unlink(place.folder.at(place.name));
    await syncFolder(place.folder);
  } catch (error) {
    throw fileError(path, "write", error);
  } finally {
    place.close();
  }
}

export async function renameFile(root: WalkRoot, from: string, to: string): Promise<void> {
  const source = await walk(root, from, { followLast: false });
  try {
    requireOwnName(root, from, source);
    const target = await walk(root, to, { followLast: false });
    try {
      requireWritable(root, to, target, { mustBeNew: true });
      await moveInto(source, target, to);
    } finally {
      target.close();
    }
  } catch (error) {
    throw fileError(to, "write", error);
  } finally {
    source.close();
  }
}

async function moveInto(source: Place, target: Place, to: string): Promise<void> {
  const made = await makeBelow(target.folder, target.missing, to);
  try {
    await source.folder.verify();
    await made.folder.verify();
    await rename(source.folder.at(source.name), made.folder.at(target.name));
    await syncFolder(made.folder);
    await syncFolder(source.folder);
    await made.sync();
    made.close();
  } catch (error) {
    await made.undo();
    throw error;
  }
}

function requireOwnName(root: WalkRoot, path: string, { entry, name, real, trail }: Place): void {
  if (entry === undefined) throw errnoError(path, "write", "ENOENT");
  if (entry.stats.isDirectory() || name === ".") throw errnoError(path, "write", "EISDIR");
  root.check({ access: "write", real, trail });
}
