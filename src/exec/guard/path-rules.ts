// Computes what a guarded command sees: the whole machine with the gateway's own files hidden and its workspace in
// place.
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

import { canWrite } from "../../base/folders.ts";
import { statOf } from "../policy/programs.ts";
import { canonicalPath, isWithin } from "../sandbox/hidden-paths.ts";
import { notWorking, type Works } from "../sandbox/spec.ts";
import { entriesOf } from "../sandbox/inherited-fds.ts";
import { otherPathsOf, readMounts, type MountRow } from "./mounts.ts";
import type { GuardedPaths } from "./guarded-paths.ts";

/**
 * `hide`: an empty folder or file replaces it. `show`: visible below a hidden folder. `lock`: visible, but it cannot
 * be renamed or replaced. The rule with the longest matching path decides.
 */
export interface PathRule {
  readonly path: string;
  readonly access: "hide" | "show" | "read-only" | "lock";
  readonly isFolder: boolean;
}

export interface PathRules {
  readonly works: true;
  /** Shortest path first, which is the order of mounting. */
  readonly rules: readonly PathRule[];
}

export interface PathRuleOptions {
  /** Folders of programs that the gateway itself runs; changing one would give a command its rights. */
  readonly programs: readonly string[];
  /** Sockets of services that start programs for their clients. */
  readonly services: readonly string[];
  readonly mounts?: readonly MountRow[];
}

export function pathRulesFor(
  paths: GuardedPaths,
  options: PathRuleOptions,
): PathRules | Extract<Works, { works: false }> {
  const { mounts = readMounts() } = options;
  const workspace = paths.workspace === undefined ? undefined : canonicalPath(paths.workspace);
  const readOnly = protectedFolders(paths, workspace);
  if ("reason" in readOnly) return readOnly;
  const { folders } = readOnly;
  const covered = [...folders, ...alsoHidden(paths, workspace, folders)];
  const aliases = covered.flatMap((path) =>
    otherPathsOf(path, mounts).filter((other) => isAlias(other, path, workspace)),
  );
  const services = options.services.map(canonicalPath).filter((path) => statOf(path) !== undefined);
  const programs = [...options.programs, ...paths.readOnly]
    .map(canonicalPath)
    .filter((path) => workspace === undefined || !isWithin(path, workspace));
  const skills = join(canonicalPath(paths.state), "skills");
  const rules = [
    ...[...covered, ...aliases, ...services].map((path) => ruleAt(path, "hide")),
    ...[skills, ...programs].map((path) => ruleAt(path, "read-only")),
    ...(workspace === undefined ? [] : [ruleAt(workspace, "show")]),
  ].filter(({ path, isFolder }) => isFolder || statOf(path)?.isFile() === true || services.includes(path));
  const unique = [...new Map(rules.map((rule) => [rule.path, rule])).values()].toSorted(byLength);
  // Drops rules without effect: hiding below a hidden folder, and showing what is visible anyway.
  const needed = unique.filter(({ path, access }, at) => {
    const above = ruleFor(path, unique.slice(0, at))?.access;
    if (access === "hide") return above !== "hide";
    return above === undefined ? programs.includes(path) : above !== access;
  });
  const locks = [...covered, ...programs].flatMap((path) => locksAbove(path, needed));
  const all = new Map([...locks.map((path) => ruleAt(path, "lock")), ...needed].map((rule) => [rule.path, rule]));
  return { works: true, rules: [...all.values()].toSorted(byLength) };
}

/** The rule that decides what is visible at a path. */
export function ruleFor(path: string, rules: readonly PathRule[]): PathRule | undefined {
  return rules.findLast((rule) => rule.access !== "lock" && isWithin(path, rule.path));
}

const byLength = (a: PathRule, b: PathRule): number => a.path.length - b.path.length;
const ruleAt = (path: string, access: PathRule["access"]): PathRule => ({
  path,
  access,
  isFolder: statOf(path)?.isDirectory() === true,
});

type Refusal = Extract<Works, { works: false }>;

/** The folders with rules and secrets, or why they cannot be hidden from a command. */
function protectedFolders(
  paths: GuardedPaths,
  workspace: string | undefined,
): { readonly folders: string[] } | Refusal {
  const state = canonicalPath(paths.state);
  const home = canonicalPath(paths.home);
  if (state === "/" || state === workspace)
    return notWorking(
      `the state folder ${state} is ${state === "/" ? "the whole disk" : "the workspace itself"}`,
      moveWorkspace,
    );
  if (
    paths.alternateState !== undefined &&
    statOf(paths.alternateState) === undefined &&
    canWrite(dirname(paths.alternateState))
  )
    return notWorking(
      `${paths.alternateState} does not exist, and the gateway would read it in place of ${state} once a command created it`,
      `start the gateway with OPENCLAW_STATE_DIR=${state}`,
    );
  if (statOf(state) === undefined) return missing(state);
  const folders = new Set([state]);
  for (const config of new Set(paths.configs)) {
    const folder = dirname(canonicalPath(config));
    if (isProtected(folder, folders, workspace)) continue;
    if (folder === workspace || isWithin(home, folder) || shared.has(folder))
      return notWorking(
        `the config file ${config} lies in ${folder}, which also contains other files`,
        `move it to a folder of its own, such as ${state}`,
      );
    if (statOf(folder) === undefined) return missing(folder);
    folders.add(folder);
  }
  const link = [paths.state, ...paths.configs]
    .flatMap((path) => linksIn(path))
    .find((path) => !isProtected(canonicalPath(dirname(path)), folders, workspace));
  if (link !== undefined && canWrite(dirname(link)))
    return notWorking(
      `${link} is a link that a command could replace`,
      `name the real folder instead of the link: OPENCLAW_STATE_DIR=${state}`,
    );
  const hardLink = secretsIn(state, paths.configs).find((path) => (statOf(path)?.nlink ?? 1n) > 1n);
  if (hardLink !== undefined)
    return notWorking(
      `${hardLink} has a second name (a hard link) by which a command could reach it`,
      `remove the other name; find it with: find / -xdev -samefile ${hardLink}`,
    );
  return { folders: [...folders] };
}

const missing = (folder: string): Refusal =>
  notWorking(`the folder ${folder} does not exist, and a command could create it`, `mkdir -p ${folder}`);
const moveWorkspace = "choose another workspace: openclaw config set agents.defaults.workspace <folder>";

/** System folders, which programs need. */
const shared: ReadonlySet<string> = new Set(
  "/ /bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /usr/bin /usr/lib /usr/local /usr/local/bin /usr/local/etc /var /var/lib /var/tmp /private /private/etc /private/tmp /private/var /Users /Library /Applications".split(
    " ",
  ),
);

/** True when the path is hidden because it lies in one of these folders and not in the workspace. */
const isProtected = (path: string, folders: ReadonlySet<string>, workspace: string | undefined): boolean =>
  [...folders].some(
    (folder) =>
      isWithin(path, folder) && !(workspace !== undefined && isWithin(workspace, folder) && isWithin(path, workspace)),
  );

/** Files that must not have a second hard link. */
function secretsIn(state: string, configs: readonly string[]): string[] {
  const inFolders = ["credentials", "identity"].flatMap((name) =>
    entriesOf(join(state, name)).map((entry) => join(state, name, entry)),
  );
  const top = entriesOf(state)
    .filter((name) => /\.(?:json|sqlite|env)|^\.env/.test(name))
    .map((name) => join(state, name));
  return [...configs, ...top, ...inFolders].filter((path) => statOf(path)?.isFile() === true);
}

/** Workspaces of other agents and older state folders, if they exist and the machine stays usable without them. */
function alsoHidden(
  { hidden, home }: GuardedPaths,
  workspace: string | undefined,
  readOnly: readonly string[],
): string[] {
  const realHome = canonicalPath(home);
  return [...new Set(hidden.map(canonicalPath))].filter(
    (path) =>
      statOf(path) !== undefined &&
      !readOnly.includes(path) &&
      !isWithin(realHome, path) &&
      !(workspace !== undefined && isWithin(path, workspace)),
  );
}

/** Compared by identity, because a later mount may hide a path of the mount table. */
function isAlias(other: string, path: string, workspace: string | undefined): boolean {
  if (workspace !== undefined && isWithin(other, workspace)) return false;
  const [there, here] = [statOf(other), statOf(path)];
  if (there === undefined || here === undefined) return false;
  if (there.dev !== here.dev) return false;
  // A second mount of the workspace itself is allowed.
  const own = workspace === undefined ? undefined : statOf(workspace);
  return own === undefined || there.ino !== own.ino;
}

/** Parent folders that a command could rename or replace. */
function locksAbove(path: string, rules: readonly PathRule[]): string[] {
  const found: string[] = [];
  for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) {
    // Names below a hidden or read-only folder cannot change anyway, and a lock would make the latter writable.
    if (/^(?:hide|read-only)$/.test(ruleFor(folder, rules)?.access ?? "")) continue;
    if (canWrite(dirname(folder))) found.push(folder);
  }
  return found;
}

/** Every link on the way to a path, including links behind links. */
function linksIn(path: string): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const walk = (target: string): void => {
    if (seen.has(target) || seen.size > 256) return;
    seen.add(target);
    const parent = dirname(target);
    if (parent !== target) walk(parent);
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
    found.push(target);
    const to = readlinkSync(target);
    walk(isAbsolute(to) ? resolve(to) : resolve(canonicalPath(parent), to));
  };
  walk(resolve(path));
  return found;
}
