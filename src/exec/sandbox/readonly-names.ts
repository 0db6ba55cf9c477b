// Protects names in a workspace that programs on this machine obey: sandboxed commands can read but not write them,
// even if missing.
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { errnoOf, OpenClawError } from "../../core/error.ts";
import { namesIn } from "../../base/folders.ts";
import { sha256 } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { isAlive } from "../../base/process-alive.ts";
import { protectedNames } from "../../base/protected-names.ts";
import { createGitFinder, emptyLinks, type GitFolder } from "./git-folders.ts";
import { isWithin } from "./hidden-paths.ts";
import { setAsideNew } from "./set-aside.ts";

/** Relative paths in a workspace; all exist while the protection is held. */
export interface ReadonlyNames {
  /** Folders that must not be renamed, so that read-only paths below them stay in place. Parents first. */
  readonly pinned: readonly string[];
  /** Empty folders, usually our placeholders. */
  readonly emptyFolders: readonly string[];
  readonly readOnly: readonly string[];
}

export interface NameProtectionOptions {
  /** True for a home folder, where shells, git, ssh and logins obey more names. */
  readonly isHome: boolean;
  /** True when commands may change repositories; then only the parts that git obeys are protected. */
  readonly gitWrite: boolean;
  /** Never shown, so not searched. */
  readonly hidden: readonly string[];
  /** How many of the held protections belong to the caller without a running command. */
  readonly idle?: number;
}

export interface ProtectedWorkspace {
  readonly names: ReadonlyNames;
  drop(): void;
  /**
   * After a command: sets aside git folders it made that would start programs outside, and returns notes. Never
   * rejects.
   */
  check(): Promise<readonly string[]>;
}

export interface NameProtection {
  /** Creates an empty file or folder for each missing protected name, because a mount needs a target. */
  protect(workspace: string, options: NameProtectionOptions): Promise<ProtectedWorkspace>;
  /** Removes all placeholders. */
  close(): void;
}

/** Commands often follow each other, so placeholders stay this long after the last one. */
const LINGER_MS = 500;

interface HeldWorkspace {
  count: number;
  timer?: NodeJS.Timeout | undefined;
  /** The git folders before the first command. */
  git?: Promise<readonly GitFolder[]>;
}

export function createNameProtection(ledgerFolder: string, log?: Pick<Log, "warn">): NameProtection {
  const held = new Map<string, HeldWorkspace>();
  const finder = createGitFinder();
  const baselineOf = (workspace: string): string => join(ledgerFolder, `${sha256(workspace).slice(0, 24)}.git`);

  /** Stored on disk, so that what a command made before a crash is still recognized as new. */
  const findGit = async (
    workspace: string,
    { hidden, gitWrite }: NameProtectionOptions,
  ): Promise<readonly GitFolder[]> => {
    const file = baselineOf(workspace);
    const left = gitWrite || held.has(workspace) ? undefined : readBaseline(file);
    if (left !== undefined) {
      const notes = await setAsideNew(workspace, left, () => finder.find(workspace, hidden, left));
      for (const note of notes) log?.warn(note, { workspace });
    }
    const git = await finder.find(workspace, hidden);
    mkdirSync(ledgerFolder, { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ pid: process.pid, git }), { mode: 0o600 });
    return git;
  };

  const unprotect = (workspace: string): void => {
    held.delete(workspace);
    rmSync(baselineOf(workspace), { force: true });
    removePlaceholders(workspace, ledgerOf(ledgerFolder, workspace));
  };

  return {
    async protect(workspace, options) {
      const known = held.get(workspace);
      const entry: HeldWorkspace = known ?? { count: 0 };
      if (known === undefined) register(ledgerOf(ledgerFolder, workspace));
      clearTimeout(entry.timer);
      // A running command could replace a folder it made by a link while we mount it, so newer folders are not mounted.
      if (entry.git === undefined || entry.count <= (options.idle ?? 0)) entry.git = findGit(workspace, options);
      entry.count += 1;
      held.set(workspace, entry);
      let isDropped = false;
      const drop = (): void => {
        if (isDropped) return;
        isDropped = true;
        entry.count -= 1;
        if (entry.count > 0 || held.get(workspace) !== entry) return;
        entry.timer = setTimeout(() => unprotect(workspace), LINGER_MS).unref();
      };
      try {
        const git = await entry.git;
        const names = findReadonlyNames(workspace, options, git, ledgerOf(ledgerFolder, workspace));
        const check = async (): Promise<readonly string[]> => {
          if (options.gitWrite) return [];
          const notes = await setAsideNew(workspace, git, () => finder.find(workspace, options.hidden, git));
          for (const note of notes) log?.warn(note, { workspace });
          return notes;
        };
        return { names, drop, check };
      } catch (error) {
        drop();
        throw error;
      }
    },
    close() {
      for (const [workspace, { timer }] of held) {
        clearTimeout(timer);
        unprotect(workspace);
      }
    },
  };
}

/** Undefined when there is none or its process still runs. */
function readBaseline(file: string): readonly GitFolder[] | undefined {
  try {
    const { pid, git } = JSON.parse(readFileSync(file, "utf8")) as { pid: number; git: GitFolder[] };
    return isAlive(pid) ? undefined : git;
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Registers this process for the workspace before it reads the current names. */
function register(ledger: string): void {
  mkdirSync(ledger, { recursive: true, mode: 0o700 });
  writeFileSync(join(ledger, String(process.pid)), JSON.stringify(readLedger(join(ledger, String(process.pid)))), {
    mode: 0o600,
  });
}

/** Home names are protected in other folders too, if they exist. */
function findReadonlyNames(
  workspace: string,
  { isHome, gitWrite }: NameProtectionOptions,
  git: readonly GitFolder[],
  ledger: string,
): ReadonlyNames {
  const readOnly = new Set<string>();
  const pinned = new Set<string>();
  const missing: string[] = [];
  const keep = (names: readonly string[], end: number, depth: number): void => {
    const path = names.slice(0, end).join("/");
    for (let at = 1; at < end; at += 1) pinned.add(names.slice(0, at).join("/"));
    readOnly.add(path);
    if (depth < end) missing.push(path);
  };
  for (const { names, when } of protectedNames) {
    if (madeInside.has(names[0] ?? "") || (names.join("/") === ".git" && isOpenRepository(git, gitWrite))) continue;
    const { depth, isEnd } = existingDepth(workspace, names);
    const whole = isEnd || depth === names.length;
    if (!whole && when === "bound" && (!isHome || names[0] === "library")) continue;
    keep(names, whole ? depth : when === "always" ? 1 : depth + 1, depth);
  }
  for (const names of gitPaths(workspace, git, gitWrite)) {
    const depth = plainDepth(workspace, names);
    if (depth !== undefined) keep(names, Math.min(depth + 1, names.length), depth);
  }
  putPlaceholders(workspace, [...new Set(missing)], ledger);
  const isCovered = (path: string): boolean => parentsOf(path).some((parent) => readOnly.has(parent));
  const outer = [...readOnly].filter((path) => !isCovered(path)).sort();
  const isEmptyAt = (path: string): boolean => isEmptyFolder(join(workspace, path));
  return {
    pinned: [...pinned].filter((path) => !isCovered(path) && !readOnly.has(path)).sort(),
    emptyFolders: outer.filter(isEmptyAt),
    readOnly: outer.filter((path) => !isEmptyAt(path)),
  };
}

const parentsOf = (path: string): string[] =>
  path.split("/").flatMap((_, at, names) => (at === 0 ? [] : [names.slice(0, at).join("/")]));

/** With write access, git obeys only these parts of a repository by itself. */
const obeyedByGit = ["hooks", "config", "config.worktree", "commondir", "modules"];

/**
 * Commands create and fill these folders all the time (`python3 -m venv .venv`, then `pip install`). File tools still
 * treat them as protected.
 */
const madeInside: ReadonlySet<string> = new Set([".venv", "venv"]);

/** With write access, the repository at the top is protected in parts. */
const isOpenRepository = (git: readonly GitFolder[], gitWrite: boolean): boolean =>
  gitWrite && git.some(({ path, kind }) => path === ".git" && kind === "folder");

/**
 * The protected paths of each git folder: all of it, or only the parts git obeys. A workspace that is itself a git
 * folder is protected in parts.
 */
function gitPaths(workspace: string, git: readonly GitFolder[], gitWrite: boolean): readonly (readonly string[])[] {
  return git.flatMap((folder) => {
    const names = folder.path.split("/").filter(Boolean);
    // A mount cannot cover a link. Its target is found separately, and a replaced link counts as new.
    if (folder.kind === "link") return [];
    const isInParts = folder.kind === "folder" && (gitWrite || names.length === 0);
    if (isInParts) return obeyedByGit.map((part) => [...names, part]);
    return [names, ...emptyLinks(workspace, folder).map((path) => path.split("/"))];
  });
}

/** How many of the nested names exist; undefined when a link or a file is in the way. */
function plainDepth(workspace: string, names: readonly string[]): number | undefined {
  for (let depth = 0; depth < names.length; depth += 1) {
    const found = lstatSync(join(workspace, ...names.slice(0, depth + 1)), { throwIfNoEntry: false });
    if (found === undefined) return depth;
    if (found.isSymbolicLink() || (!found.isDirectory() && depth < names.length - 1)) return undefined;
  }
  return names.length;
}

/** Hidden paths need no protection, and mounting them would show them. */
export function withoutHidden(names: ReadonlyNames, workspace: string, hidden: readonly string[]): ReadonlyNames {
  // The workspace usually lies in the state folder, which hides everything else.
  const inside = hidden.filter((place) => place !== workspace && isWithin(place, workspace));
  const isSeen = (path: string): boolean => !inside.some((place) => isWithin(join(workspace, path), place));
  return {
    pinned: names.pinned.filter(isSeen),
    emptyFolders: names.emptyFolders.filter(isSeen),
    readOnly: names.readOnly.filter(isSeen),
  };
}

function isEmptyFolder(place: string): boolean {
  return lstatSync(place).isDirectory() && readdirSync(place).length === 0;
}

/** How many of the nested names exist. Rejects links, because they could be replaced. */
function existingDepth(
  workspace: string,
  names: readonly string[],
): { readonly depth: number; readonly isEnd: boolean } {
  for (let depth = 0; depth < names.length; depth += 1) {
    const path = join(workspace, ...names.slice(0, depth + 1));
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return { depth, isEnd: false };
    if (found.isSymbolicLink()) {
      throw new OpenClawError(
        "sandbox.unsafe-link",
        `${path} is a symbolic link, and a sandbox cannot protect what it points to`,
        {
          hint: `replace the link with the real file or folder: ${path}`,
        },
      );
    }
    // A file in place of a folder: paths below it cannot appear while it is protected.
    if (!found.isDirectory()) return { depth: depth + 1, isEnd: true };
  }
  return { depth: names.length, isEnd: true };
}

const folders: ReadonlySet<string> = new Set([".git", ".vscode", ".idea", ".zed", ".ssh"]);

/** The parts of a git folder that are files; other placeholders below the top are folders. */
const gitFiles = /(?:^|\/)(?:config|config\.worktree|commondir)$/;

const isFolder = (path: string): boolean =>
  folders.has(path) ||
  protectedNames.some(({ names }) => names.join("/").startsWith(`${path}/`)) ||
  (!protectedNames.some(({ names }) => names.join("/") === path) && !gitFiles.test(path));

/** Files that can be placeholders at the top of a workspace and should not be committed. */
export const placeholderFiles = (): readonly string[] =>
  protectedNames.flatMap(({ names: [name = "", ...below], when }) =>
    when === "always" && below.length === 0 && !isFolder(name) ? [name] : [],
  );

function putPlaceholders(workspace: string, paths: readonly string[], ledger: string): void {
  if (paths.length === 0) return;
  // Recorded first, so that placeholders left by a crash can be removed later.
  const mine = join(ledger, String(process.pid));
  writeFileSync(mine, JSON.stringify([...new Set([...readLedger(mine), ...paths])]), { mode: 0o600 });
  for (const path of paths) putPlaceholder(workspace, path);
}

function putPlaceholder(workspace: string, path: string): void {
  const place = join(workspace, path);
  try {
    if (isFolder(path)) mkdirSync(place, { mode: 0o755 });
    else writeFileSync(place, contentOf(path), { flag: "wx", mode: 0o644 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

/** Harmless content for programs that read the placeholder. */
function contentOf(path: string): string {
  // For git this means the folder itself.
  if (path === "commondir" || path.endsWith("/commondir")) return ".\n";
  return path.endsWith(".json") ? "{}\n" : "";
}

const ledgerOf = (folder: string, workspace: string): string => join(folder, sha256(workspace).slice(0, 24));

/** Another process that works in the workspace still needs the placeholders, so it takes over their removal. */
function removePlaceholders(workspace: string, ledger: string): void {
  const owners = namesIn(ledger);
  const heir = owners.map(pidOf).find((pid) => pid !== process.pid && isAlive(pid));
  if (heir !== undefined) {
    renameSync(join(ledger, String(process.pid)), join(ledger, `${heir}-${process.pid}`));
    return;
  }
  const paths = new Set(owners.flatMap((owner) => readLedger(join(ledger, owner))));
  for (const path of paths) removePlaceholder(join(workspace, path), contentOf(path));
  rmSync(ledger, { recursive: true, force: true });
}

const pidOf = (owner: string): number => Number(owner.split("-")[0]);

/** Keeps a placeholder that was filled meanwhile. */
function removePlaceholder(place: string, content: string): void {
  const found = lstatSync(place, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return;
  try {
    if (found.isDirectory()) rmdirSync(place);
    else if (found.size === content.length && readFileSync(place, "utf8") === content) unlinkSync(place);
  } catch (error) {
    if (!["ENOTEMPTY", "ENOENT", "EEXIST"].includes(errnoOf(error) ?? "")) throw error;
  }
}

function readLedger(file: string): string[] {
  try {
    const paths: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || error instanceof SyntaxError) return [];
    throw error;
  }
}
