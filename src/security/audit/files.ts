// Checks files and folders with secrets or rules: their owner, their modes and their real location.
import { chmodSync, lstatSync, readdirSync, realpathSync, statSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { approvalsPath } from "../../exec/policy/file.ts";
import { storeFileOf } from "../../store/store-files.ts";
import type { Finding, AuditContext, Weight } from "./finding.ts";

const MAX_DEEP_FILES = 20_000;

interface Kept {
  readonly path: string;
  readonly what: string;
  readonly mode: 0o600 | 0o700;
  /** The weight when others can read it, and when they can change it. */
  readonly read: Weight;
  readonly write: Weight;
}

export function checkFiles(context: AuditContext): Finding[] {
  const { platform } = context.machine;
  if (platform === "win32" || statOf(context.paths.state) === undefined) return [];
  const kept = [...known(context), ...(context.deep ? everythingElse(context) : [])];
  const seen = new Set<string>();
  const once = kept.filter(({ path }) => !seen.has(path) && seen.add(path));
  return [
    ...linked(context),
    ...parents(context),
    ...once.flatMap((entry) => [...modeOf(entry), ...ownerOf(entry, context)]),
  ];
}

function known({ paths: { state }, loaded }: AuditContext): Kept[] {
  const store = storeFileOf(state);
  const files = (what: string, read: Weight, write: Weight, ...paths: string[]): Kept[] =>
    paths.map((path) => ({ path, what, mode: 0o600, read, write }));
  const folders = (what: string, ...names: string[]): Kept[] =>
    names.map((name) => ({ path: join(state, name), what, mode: 0o700, read: "medium", write: "high" }));
  const old = (path: string): string[] =>
    namesIn(dirname(path)).flatMap((name) =>
      name.startsWith(`${basename(path)}.`) ? [join(dirname(path), name)] : [],
    );
  return [
    { path: state, what: "the state folder", mode: 0o700, read: "high", write: "critical" },
    ...folders("a folder of the state", "identity", "logs", "credentials", "agents", "sandboxes"),
    ...files("the config", "high", "critical", ...loaded.files),
    ...files("an older version of the config", "high", "low", ...old(loaded.path)),
    ...files("the environment file", "high", "critical", join(state, ".env")),
    ...files("the approvals", "medium", "critical", approvalsPath(state)),
    ...files("the store", "high", "critical", store, `${store}-wal`, `${store}-shm`),
    ...files("a key of this machine", "critical", "critical", ...filesIn(join(state, "identity"))),
    ...files("credentials", "critical", "critical", ...filesIn(join(state, "credentials"))),
    ...files("a log", "medium", "low", ...filesIn(join(state, "logs"))),
  ];
}

/** Skips workspaces, which belong to the agents and may be shared on purpose. */
function everythingElse({ paths: { state } }: AuditContext): Kept[] {
  const found: Kept[] = [];
  const walk = (folder: string): void => {
    for (const name of namesIn(folder)) {
      if (found.length >= MAX_DEEP_FILES) return;
      const path = join(folder, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined || stat.isSymbolicLink()) continue;
      if (folder === state && /^(workspace(-|$)|sandboxes$)/.test(name)) continue;
      const mode = stat.isDirectory() ? 0o700 : 0o600;
      found.push({ path, what: "a file of the state", mode, read: "low", write: "medium" });
      if (stat.isDirectory()) walk(path);
    }
  };
  walk(state);
  return found;
}

function modeOf({ path, what, mode: wanted, read, write }: Kept): Finding[] {
  const stat = statOf(path);
  if (stat === undefined || (stat.mode & 0o077) === 0) return [];
  const isWritable = (stat.mode & 0o022) !== 0;
  const octal = (stat.mode & 0o777).toString(8);
  return [
    {
      id: isWritable ? "files.others-write" : "files.others-read",
      weight: isWritable ? write : read,
      what: `${what} ${path} can be ${isWritable ? "changed" : "read"} by other users (mode ${octal})`,
      why: isWritable
        ? "whoever can change it decides what the gateway does"
        : "it contains secrets or private conversations",
      where: { file: path },
      fix: `chmod ${wanted.toString(8)} ${shellWord(path)}`,
      repair: { does: `set mode ${wanted.toString(8)} on ${path}`, apply: () => chmodSync(path, wanted) },
    },
  ];
}

function ownerOf({ path, what }: Kept, { machine: { userId } }: AuditContext): Finding[] {
  const stat = statOf(path);
  if (stat === undefined || userId === undefined || stat.uid === userId) return [];
  return [
    {
      id: "files.owner",
      weight: stat.uid === 0 ? "low" : "high",
      what: `${what} ${path} belongs to another user (id ${stat.uid}; you are ${userId})`,
      why: "its owner can read and replace it at any time",
      where: { file: path },
      fix: `sudo chown -R ${userId} ${shellWord(path)}`,
    },
  ];
}

function linked({ paths: { state }, loaded }: AuditContext): Finding[] {
  return [state, loaded.path, approvalsPath(state)].flatMap((path): Finding[] => {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return [];
    const real = realOf(path);
    return [
      {
        id: "files.link",
        weight: path === state ? "low" : "medium",
        what: `${path} is a link to ${real ?? "nothing"}`,
        why: "whoever can replace the link or owns its target can replace your settings",
        where: { file: path },
        fix:
          real === undefined
            ? `rm ${shellWord(path)}`
            : `rm ${shellWord(path)} && mv ${shellWord(real)} ${shellWord(path)}`,
      },
    ];
  });
}

/** In a folder that every user can write, another user can replace the state folder. */
function parents({ paths: { state }, machine: { userId } }: AuditContext): Finding[] {
  const found: Finding[] = [];
  for (let folder = dirname(realOf(state) ?? state); ; folder = dirname(folder)) {
    const stat = statOf(folder);
    const isSticky = stat !== undefined && (stat.mode & 0o1000) !== 0;
    const byMany = stat !== undefined && (stat.mode & 0o022) !== 0 && !isSticky;
    const byOther = stat !== undefined && userId !== undefined && stat.uid !== 0 && stat.uid !== userId;
    if (stat !== undefined && (byMany || byOther))
      found.push({
        id: "files.parent",
        weight: "critical",
        what: byMany
          ? `the folder ${folder} above the state can be written by other users (mode ${(stat.mode & 0o777).toString(8)})`
          : `the folder ${folder} above the state belongs to another user (id ${stat.uid})`,
        why: "they can move your state folder away and put their own in its place",
        where: { file: folder },
        fix: byMany ? `chmod go-w ${shellWord(folder)}` : `sudo chown ${userId ?? 0} ${shellWord(folder)}`,
      });
    if (folder === dirname(folder)) return found;
  }
}

export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined; // an inaccessible folder cannot be judged; the gateway reports it at start
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function filesIn(folder: string): string[] {
  return namesIn(folder).flatMap((name) => (statOf(join(folder, name))?.isFile() === true ? [join(folder, name)] : []));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}
