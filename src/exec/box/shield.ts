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

import { errnoOf, HouseError } from "../../core/error.ts";
import { sha256 } from "../../base/ids.ts";
import { protectedNames, type ProtectedName } from "../../base/protected-names.ts";
import { isWithin } from "./hidden.ts";

/** Relative paths inside a workspace, all there while the shield is held. */
export interface Shield {
  /** Folders that must stay where they are, so that what is read-only below them does. Outer ones first. */
  readonly pinned: readonly string[];
  /** Folders that are placeholders of ours: empty. */
  readonly hollow: readonly string[];
  readonly readOnly: readonly string[];
}

export interface Shields {
  /** Puts an empty file or folder where a protected name is absent: nothing can be mounted on nothing. */
  raise(workspace: string, isHome: boolean): { readonly shield: Shield; drop(): void };
  /** Takes all placeholders away. */
  close(): void;
}

/** Commands often come one after the other; placeholders stay so long after the last one. */
const LINGER_MS = 500;

export function createShields(ledgerFolder: string): Shields {
  const held = new Map<string, { count: number; timer?: NodeJS.Timeout | undefined }>();

  const lower = (workspace: string): void => {
    held.delete(workspace);
    removePlaceholders(workspace, ledgerOf(ledgerFolder, workspace));
  };

  return {
    raise(workspace, isHome) {
      const known = held.get(workspace);
      const entry = known ?? { count: 0 };
      if (known === undefined) register(ledgerOf(ledgerFolder, workspace));
      clearTimeout(entry.timer);
      entry.count += 1;
      held.set(workspace, entry);
      let isDropped = false;
      const drop = (): void => {
        if (isDropped) return;
        isDropped = true;
        entry.count -= 1;
        if (entry.count > 0 || held.get(workspace) !== entry) return;
        entry.timer = setTimeout(() => lower(workspace), LINGER_MS).unref();
      };
      try {
        return { shield: shieldOf(workspace, isHome, ledgerOf(ledgerFolder, workspace)), drop };
      } catch (error) {
        drop();
        throw error;
      }
    },
    close() {
      for (const [workspace, { timer }] of held) {
        clearTimeout(timer);
        lower(workspace);
      }
    },
  };
}

/** Says that this process works in the workspace, before it looks at what is there. */
function register(ledger: string): void {
  mkdirSync(ledger, { recursive: true, mode: 0o700 });
  writeFileSync(join(ledger, String(process.pid)), JSON.stringify(readLedger(join(ledger, String(process.pid)))), {
    mode: 0o600,
  });
}

/** Shells, git, ssh and log-ins obey such names in a home folder only; elsewhere they are protected where they exist. */
function shieldOf(workspace: string, isHome: boolean, ledger: string): Shield {
  const readOnly = new Set<string>();
  const pinned = new Set<string>();
  const missing: string[] = [];
  for (const { names, when, alone } of namesFor(workspace)) {
    const { depth, isEnd } = existingDepth(workspace, names);
    const whole = isEnd || depth === names.length;
    if (!whole && when === "bound" && (!isHome || names[0] === "library")) continue;
    const end = whole ? depth : when === "always" && alone !== true ? 1 : depth + 1;
    const path = names.slice(0, end).join("/");
    for (let at = 1; at < end; at += 1) pinned.add(names.slice(0, at).join("/"));
    readOnly.add(path);
    if (depth < end) missing.push(path);
  }
  putPlaceholders(workspace, [...new Set(missing)], ledger);
  const isCovered = (path: string): boolean => [...readOnly].some((cover) => path.startsWith(`${cover}/`));
  const outer = [...readOnly].filter((path) => !isCovered(path)).sort();
  const isHollow = (path: string): boolean => isEmptyFolder(join(workspace, path));
  return {
    pinned: [...pinned].filter((path) => !isCovered(path) && !readOnly.has(path)).sort(),
    hollow: outer.filter(isHollow),
    readOnly: outer.filter((path) => !isHollow(path)),
  };
}

interface ShieldedName extends Pick<ProtectedName, "names" | "when"> {
  /** Its folder is not protected with it when it is absent. */
  readonly alone?: boolean;
}

/** In a repository that is there people want to commit; git obeys only these parts of it. */
const obeyedByGit = ["hooks", "config", "commondir", "modules"];

/** Commands make these all day, and fill them later: `python3 -m venv .venv`, then `pip install`. File tools still leave them alone. */
const madeInside: ReadonlySet<string> = new Set([".venv", "venv"]);

function namesFor(workspace: string): readonly ShieldedName[] {
  const shielded = protectedNames.filter(({ names: [first = ""] }) => !madeInside.has(first));
  const isRepository = [".git", ".git/HEAD"].every((path, at) => {
    const found = lstatSync(join(workspace, path), { throwIfNoEntry: false });
    return at === 0 ? found?.isDirectory() === true : found?.isFile() === true;
  });
  if (!isRepository) return shielded;
  const parts = obeyedByGit.map((name) => ({ names: [".git", name], when: "always", alone: true }) as const);
  return [...shielded.filter(({ names }) => names.join("/") !== ".git"), ...parts];
}

/** What is not shown at all needs no protection, and protecting it would show it. */
export function withoutHidden(shield: Shield, workspace: string, hidden: readonly string[]): Shield {
  // A workspace usually lies in the state folder, which hides everything but it.
  const inside = hidden.filter((place) => place !== workspace && isWithin(place, workspace));
  const isSeen = (path: string): boolean => !inside.some((place) => isWithin(join(workspace, path), place));
  return {
    pinned: shield.pinned.filter(isSeen),
    hollow: shield.hollow.filter(isSeen),
    readOnly: shield.readOnly.filter(isSeen),
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
      throw new HouseError("sandbox.unsafe-link", `${path} is a link, and a sandbox cannot protect what it points to`, {
        hint: `put the real file or folder in its place: ${path}`,
      });
    }
    // A file where a folder is expected: nothing can come below it while it is kept.
    if (!found.isDirectory()) return { depth: depth + 1, isEnd: true };
  }
  return { depth: names.length, isEnd: true };
}

const folders: ReadonlySet<string> = new Set([
  ".git",
  ".git/hooks",
  ".git/modules",
  ".vscode",
  ".idea",
  ".zed",
  ".ssh",
]);

const isFolder = (path: string): boolean =>
  folders.has(path) || protectedNames.some(({ names }) => names.join("/").startsWith(`${path}/`));

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
  if (path === ".git/commondir") return ".\n";
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
