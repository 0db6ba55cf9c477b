// Finds the git folders of a workspace and tells which of those made by a sandboxed command would start programs
// outside.
import { chmodSync, lstatSync, readdirSync, type Dirent, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";

import { errnoOf } from "../../core/error.ts";
import { gitSettings, sharedFolder } from "../policy/argument-rules/git-settings.ts";
import { linkedPaths } from "../policy/argument-rules/git-links.ts";

export interface GitFolder {
  /** Relative to the workspace; empty when the workspace itself is a git folder. */
  readonly path: string;
  /** A `.git` that is a file or link refers to a folder elsewhere. */
  readonly kind: "folder" | "file" | "link";
  readonly id: string;
}

export interface GitFinder {
  /** Searches the whole workspace without following links and without entering known git folders. */
  find(workspace: string, hidden: readonly string[], known?: readonly GitFolder[]): Promise<readonly GitFolder[]>;
}

/** A different inode under the same path is a different git folder. */
export const keyOf = ({ path, id }: GitFolder): string => `${path}\0${id}`;

/** The content of a folder when it was read. */
interface Listing {
  readonly inode: number;
  readonly changedAt: number;
  readonly readAt: number;
  readonly folders: readonly string[];
  readonly gits: readonly string[];
  readonly isRepository: boolean;
}

const SLICE_MS = 4;
const MAX_REMEMBERED = 100_000;
/** A change within the same clock tick as the read would not be noticed. */
const TICK_MS = 100;

export function createGitFinder(): GitFinder {
  const listings = new Map<string, Listing>();

  const list = (folder: string): Listing | undefined => {
    const stats = statOf(folder);
    if (stats?.isDirectory() !== true) return undefined;
    const seen = listings.get(folder);
    const isFresh = seen?.inode === stats.ino && seen.changedAt === stats.ctimeMs;
    if (seen !== undefined && isFresh && seen.readAt - seen.changedAt > TICK_MS) return seen;
    const entries = entriesOf(folder, stats);
    const listing = { ...listed(entries), inode: stats.ino, changedAt: stats.ctimeMs, readAt: Date.now() };
    if (listings.size >= MAX_REMEMBERED) listings.clear();
    listings.set(folder, listing);
    return listing;
  };

  return {
    async find(workspace, hidden, known) {
      const settled = new Set(known?.map(keyOf));
      const found: GitFolder[] = [];
      const waiting = [""];
      let sliceEnd = performance.now() + SLICE_MS;
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        if (performance.now() > sliceEnd) {
          await nextTurn();
          sliceEnd = performance.now() + SLICE_MS;
        }
        const folder = join(workspace, path);
        const listing = path !== "" && hidden.includes(folder) ? undefined : list(folder);
        if (listing === undefined) continue;
        const gits = listing.gits.map((name) => join(path, name));
        const here = [...(listing.isRepository ? [path] : []), ...gits].flatMap((one) => gitFolderAt(workspace, one));
        found.push(...here.filter((one) => !found.some((other) => other.path === one.path)));
        const closed = new Set(
          here.filter((one) => known === undefined || settled.has(keyOf(one))).map((one) => one.path),
        );
        if (path !== "" && closed.has(path)) continue;
        waiting.push(...listing.folders.map((name) => join(path, name)).filter((one) => !closed.has(one)));
      }
      return found;
    },
  };
}

function listed(entries: readonly Dirent[]): Pick<Listing, "folders" | "gits" | "isRepository"> {
  const names = new Set(entries.map(({ name }) => name));
  return {
    folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    gits: [...names].filter((name) => name.toLowerCase() === ".git"),
    isRepository: names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs"))),
  };
}

function gitFolderAt(workspace: string, path: string): readonly GitFolder[] {
  const stats = statOf(join(workspace, path));
  if (stats === undefined) return [];
  const kind = stats.isSymbolicLink() ? "link" : stats.isDirectory() ? "folder" : "file";
  return [{ path, kind, id: `${stats.dev}:${stats.ino}` }];
}

/**
 * A folder that can be entered but not listed could hide a repository. It belongs to our user, so it is made readable.
 */
function entriesOf(folder: string, stats: Stats): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    if (errno !== "EACCES" || stats.uid !== process.getuid?.() || (stats.mode & 0o700) === 0o700) return [];
    chmodSync(folder, (stats.mode & 0o777) | 0o700);
    return entriesOf(folder, lstatSync(folder));
  }
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Submodule paths without a repository: one created there would be entered by the next `git status`. */
export function emptyLinks(workspace: string, { path, kind }: GitFolder): readonly string[] {
  if (kind !== "folder" || basename(path) !== ".git") return [];
  const worktree = dirname(path);
  const links = [20, 32]
    .map((bytes) => linkedPaths(join(workspace, path), bytes as 20 | 32))
    .find((one) => one !== undefined);
  return (links ?? [])
    .filter((name) => name.split("/").every((part) => part !== "" && part !== "." && part !== ".."))
    .map((name) => join(worktree, name))
    .filter((name) => statOf(join(workspace, name, ".git")) === undefined);
}

/** Parts that decide what runs; a link in their place could be changed later through its target. */
const obeyed = ["config", "config.worktree", "hooks", "commondir", "modules", "worktrees"];

/**
 * What would run when this git folder is used outside; undefined for a harmless folder or one that git ignores.
 */
export function dangerOf(workspace: string, { path, kind }: GitFolder): string | undefined {
  const folder = join(workspace, path);
  if (kind === "folder" && statOf(join(folder, "HEAD")) === undefined) return undefined;
  const isNamedGit = basename(path).toLowerCase() === ".git";
  const { problem, hooks } = gitSettings(isNamedGit ? dirname(folder) : folder);
  if (problem !== undefined) return problem;
  if (hooks.length > 0) return `hooks (${hooks.slice(0, 3).join(", ")})`;
  const linked = obeyed.find((name) => statOf(join(folder, name))?.isSymbolicLink() === true);
  if (linked !== undefined) return `${linked} is a symbolic link`;
  const isShared = statOf(join(folder, "commondir")) !== undefined;
  if (isShared && statOf(join(sharedFolder(folder), "HEAD")) === undefined) return "its settings are in another folder";
  const underWay = ["rebase-merge", "rebase-apply", "sequencer"].find(
    (name) => statOf(join(folder, name)) !== undefined,
  );
  return underWay === undefined ? undefined : `an unfinished operation (${underWay})`;
}
