// Watches the folders of notes; an event only marks what to index, so that many events cost little.
import { lstatSync, watch, type FSWatcher } from "node:fs";
import { basename, join } from "node:path";

import { errnoOf } from "../core/error.ts";
import { curatedNames, isNote, isWalked, type MemoryRoot } from "./roots.ts";

const MAX_FOLDERS = 2000;

export interface WatchedFolder {
  readonly path: string;
  /** Prefix of its files in results. */
  readonly prefix: string;
  readonly root: MemoryRoot;
}

export interface WatchEvents {
  /** One note was changed, added or removed. */
  note(root: MemoryRoot, names: readonly string[]): void;
  /** A change that only a full scan can identify. */
  anything(): void;
}

export interface Watch {
  /** Call before reading the folder, so that later changes are noticed. */
  add(folder: WatchedFolder): void;
  /** Watches exactly these folders and no others. */
  follow(folders: readonly WatchedFolder[]): void;
  /** False when the system provides no more watches; then scans find the changes. */
  readonly isWhole: () => boolean;
  close(): void;
}

export function createWatch(events: WatchEvents): Watch {
  const watches = new Map<string, { readonly watcher: FSWatcher; readonly path: string }>();
  const isWatched = (path: string): boolean => [...watches.values()].some((each) => each.path === path);
  let whole = false;
  const unwatch = (key: string): void => {
    watches.get(key)?.watcher.close();
    watches.delete(key);
  };
  const start = (folder: WatchedFolder): boolean => {
    try {
      // The folder was removed; a new one with the same name needs a new watch.
      const lost = (): void => {
        if (watches.get(keyOf(folder))?.watcher === watcher) unwatch(keyOf(folder));
        events.anything();
      };
      const watcher = watch(folder.path, { persistent: false }, (event, name) => {
        if (event === "rename" && name === basename(folder.path)) lost();
        else hear(events, folder, event, name, isWatched);
      });
      watcher.on("error", lost);
      watches.set(keyOf(folder), { watcher, path: folder.path });
      return true;
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return false;
    }
  };
  return {
    add(folder) {
      if (!watches.has(keyOf(folder)) && watches.size < MAX_FOLDERS) start(folder);
    },
    follow(folders) {
      const wanted = new Map(folders.slice(0, MAX_FOLDERS).map((folder) => [keyOf(folder), folder]));
      for (const key of watches.keys()) if (!wanted.has(key)) unwatch(key);
      const started = [...wanted].map(([key, folder]) => watches.has(key) || start(folder));
      whole = folders.length > 0 && folders.length <= MAX_FOLDERS && started.every(Boolean);
    },
    isWhole: () => whole,
    close() {
      for (const key of watches.keys()) unwatch(key);
      whole = false;
    },
  };
}

/** Two roots may share a folder and use different names in it. */
function keyOf({ path, root }: WatchedFolder): string {
  return [path, root.folder, ...(root.only ?? [])].join("\0");
}

function hear(
  events: WatchEvents,
  { path, prefix, root }: WatchedFolder,
  event: string,
  name: string | null,
  isWatched: (path: string) => boolean,
): void {
  if (name === null) return events.anything();
  const below = prefix.slice(root.prefix.length);
  const isTop = below === "";
  if (isTop && root.only !== undefined && !root.only.includes(name) && root.into?.includes(name) !== true) return;
  if (isFolder(join(path, name)) || isWatched(join(path, name))) {
    if (isWalked(name)) events.anything();
    return;
  }
  // A change of the curated file's name concerns the whole folder.
  if (isTop && event === "rename" && curatedNames.some((curated) => curated === name)) return events.anything();
  if (isNote(name)) events.note(root, [...below.split("/").filter((part) => part !== ""), name]);
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
