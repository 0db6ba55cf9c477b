// Names in a workspace that a boxed command may read but not write, there or not: what others on this machine would obey.
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
import { sha256 } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { protectedNames } from "../../base/protected-names.ts";
import { createGitFinder, emptyLinks, type GitFolder } from "./git-folders.ts";
import { isWithin } from "./hidden-paths.ts";
import { setAsideNew } from "./set-aside.ts";

/** Relative paths inside a workspace, all there while the shield is held. */
export interface ReadonlyNames {
  /** Folders that must stay where they are, so that what is read-only below them does. Outer ones first. */
  readonly pinned: readonly string[];
  /** Folders that are placeholders of ours: empty. */
  readonly emptyFolders: readonly string[];
  readonly readOnly: readonly string[];
}

export interface NameProtectionOptions {
  /** Shells, git, ssh and log-ins obey some names in a home folder only. */
  readonly isHome: boolean;
  /** Commands may change repositories: only what git obeys in them is kept. */
  readonly gitWrite: boolean;
  /** Never shown, so nothing is looked for there. */
  readonly hidden: readonly string[];
  /** How many of the shields that are held are the caller's own, with nothing running under them. */
  readonly idle?: number;
}

export interface ProtectedWorkspace {
  readonly names: ReadonlyNames;
  drop(): void;
  /** Once a command has ended: sets aside what it made that would start programs outside, and says so. Never rejects. */
  check(): Promise<readonly string[]>;
}

export interface NameProtection {
  /** Puts an empty file or folder where a protected name is absent: nothing can be mounted on nothing. */
  protect(workspace: string, options: NameProtectionOptions): Promise<ProtectedWorkspace>;
  /** Takes all placeholders away. */
  close(): void;
}

/** Commands often come one after the other; placeholders stay so long after the last one. */
const LINGER_MS = 500;

interface HeldWorkspace {
  count: number;
  timer?: NodeJS.Timeout | undefined;
  /** As found before the first command began. */
  git?: Promise<readonly GitFolder[]>;
}

export function createNameProtection(ledgerFolder: string, log?: Pick<Log, "warn">): NameProtection {
  const held = new Map<string, HeldWorkspace>();
  const finder = createGitFinder();
  const baselineOf = (workspace: string): string => join(ledgerFolder, `${sha256(workspace).slice(0, 24)}.git`);

  /** Written down, so that what a command made before a crash is still known to be new. */
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
      // A command under way could swap a folder it made for a link while we mount it: nothing newer than it is mounted.
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

/** Undefined when there is none, or when its process still keeps it. */
function readBaseline(file: string): readonly GitFolder[] | undefined {
  try {
    const { pid, git } = JSON.parse(readFileSync(file, "utf8")) as { pid: number; git: GitFolder[] };
    return isAlive(pid) ? undefined : git;
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Says that this process works in the workspace, before it looks at what is there. */
function register(ledger: string): void {
  mkdirSync(ledger, { recursive: true, mode: 0o700 });
  writeFileSync(join(ledger, String(process.pid)), JSON.stringify(readLedger(join(ledger, String(process.pid)))), {
    mode: 0o600,
  });
}

/** Names of a home folder are protected elsewhere too where they exist. */
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

/** Where one may commit, git obeys only these parts of a repository by itself. */
const obeyedByGit = ["hooks", "config", "config.worktree", "commondir", "modules"];

/** Commands make these all day, and fill them later: `python3 -m venv .venv`, then `pip install`. File tools still leave them alone. */
const madeInside: ReadonlySet<string> = new Set([".venv", "venv"]);

/** The one at the top is kept in parts, below, and not as a whole. */
const isOpenRepository = (git: readonly GitFolder[], gitWrite: boolean): boolean =>
  gitWrite && git.some(({ path, kind }) => path === ".git" && kind === "folder");

/** What is kept of the git folders found: all of each, or what git obeys in it. Where the workspace itself is one, the latter. */
function gitPaths(workspace: string, git: readonly GitFolder[], gitWrite: boolean): readonly (readonly string[])[] {
  return git.flatMap((folder) => {
    const names = folder.path.split("/").filter(Boolean);
    // Nothing can be mounted on a link: what it leads to is found by itself, and another one in its place is new.
    if (folder.kind === "link") return [];
    const isInParts = folder.kind === "folder" && (gitWrite || names.length === 0);
    if (isInParts) return obeyedByGit.map((part) => [...names, part]);
    return [names, ...emptyLinks(workspace, folder).map((path) => path.split("/"))];
  });
}

/** How many of the names are there, one below the other; undefined where a link or a file stands in the way. */
function plainDepth(workspace: string, names: readonly string[]): number | undefined {
  for (let depth = 0; depth < names.length; depth += 1) {
    const found = lstatSync(join(workspace, ...names.slice(0, depth + 1)), { throwIfNoEntry: false });
    if (found === undefined) return depth;
    if (found.isSymbolicLink() || (!found.isDirectory() && depth < names.length - 1)) return undefined;
  }
  return names.length;
}

/** What is not shown at all needs no protection, and protecting it would show it. */
export function withoutHidden(names: ReadonlyNames, workspace: string, hidden: readonly string[]): ReadonlyNames {
  // A workspace usually lies in the state folder, which hides everything but it.
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

/** How many of the names are there, one below the other. A link could be swapped for anything, so it is refused. */
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
        `${path} is a link, and a sandbox cannot protect what it points to`,
        {
          hint: `put the real file or folder in its place: ${path}`,
        },
      );
    }
    // A file where a folder is expected: nothing can come below it while it is kept.
    if (!found.isDirectory()) return { depth: depth + 1, isEnd: true };
  }
  return { depth: names.length, isEnd: true };
}

const folders: ReadonlySet<string> = new Set([".git", ".vscode", ".idea", ".zed", ".ssh"]);

/** Parts of a git folder that are files; all else that is put below the top of a workspace is a folder. */
const gitFiles = /(?:^|\/)(?:config|config\.worktree|commondir)$/;

const isFolder = (path: string): boolean =>
  folders.has(path) ||
  protectedNames.some(({ names }) => names.join("/").startsWith(`${path}/`)) ||
  (!protectedNames.some(({ names }) => names.join("/") === path) && !gitFiles.test(path));

/** Files that may be placeholders at the top of a workspace: nobody means to commit these. */
export const placeholderFiles = (): readonly string[] =>
  protectedNames.flatMap(({ names: [name = "", ...below], when }) =>
    when === "always" && below.length === 0 && !isFolder(name) ? [name] : [],
  );

function putPlaceholders(workspace: string, paths: readonly string[], ledger: string): void {
  if (paths.length === 0) return;
  // Written down first: what a crash leaves behind is found and removed later.
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

/** Programs that happen to look at it meanwhile find nothing to do, and nothing wrong. */
function contentOf(path: string): string {
  // To git this says that everything lies where it is.
  if (path === "commondir" || path.endsWith("/commondir")) return ".\n";
  return path.endsWith(".json") ? "{}\n" : "";
}

const ledgerOf = (folder: string, workspace: string): string => join(folder, sha256(workspace).slice(0, 24));

/** Not while another process of ours works in the workspace: it would lose its shield, so it inherits the duty instead. */
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

/** What somebody has filled meanwhile stays. */
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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}
