// Creates kernel control groups (version 1 and 2) for sandboxes, where this process has the right to.
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import type { Log } from "../../base/log.ts";
import type { Limits } from "./limits.ts";

export interface ControlGroups {
  groupsOf(name: string, limits: Limits): GroupSet;
  remove(name: string): void;
  close(): void;
}

export interface GroupSet {
  /** A process writes itself into their `cgroup.procs` before it enters the sandbox. Empty when none can be created. */
  readonly folders: readonly string[];
  readonly boundsProcesses: boolean;
  readonly boundsMemory: boolean;
}

const OURS = "openclaw-sandbox";
const MOUNT = "/sys/fs/cgroup";

export function createControlGroups(log: Log): ControlGroups {
  const made = new Map<string, GroupSet>();
  let parents: GroupParents | undefined;

  const remove = (name: string): void => {
    for (const folder of made.get(name)?.folders ?? []) removeGroup(folder, log);
    made.delete(name);
  };
  return {
    groupsOf(name, limits) {
      const known = made.get(name);
      if (known?.folders.every((folder) => existsSync(folder))) return known;
      parents ??= findParents(log);
      const groups = makeGroups(parents, name, limits, log);
      made.set(name, groups);
      return groups;
    },
    remove,
    close() {
      for (const name of made.keys()) remove(name);
    },
  };
}

/** The parent folder of the groups, per controller. */
type GroupParents = { readonly version: 2; readonly all: string } | { readonly version: 1; readonly kinds: Kinds };
type Kinds = Readonly<Partial<Record<"pids" | "memory" | "cpu", string>>>;

function findParents(log: Log): GroupParents {
  const lines = readFileSync("/proc/self/cgroup", "utf8").trim().split("\n");
  const paths = new Map(
    lines.flatMap((line) => {
      const [, kinds = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      return kinds.split(",").map((kind): [string, string] => [kind, path]);
    }),
  );
  const unified = paths.get("") ?? "/";
  if (isWritable(join(MOUNT, "cgroup.controllers"), constants.R_OK)) {
    // A group that contains processes cannot pass controllers to children, so ours is a sibling of the gateway's group.
    const parent = join(MOUNT, unified === "/" ? "/" : dirname(unified));
    const all = join(parent, OURS);
    return attempt(log, () => {
      mkdirSync(all, { recursive: true });
      writeFileSync(join(all, "cgroup.subtree_control"), "+pids +memory +cpu");
    })
      ? { version: 2, all }
      : { version: 1, kinds: {} };
  }
  const kinds: Record<string, string> = {};
  for (const kind of ["pids", "memory", "cpu"]) {
    const folder = join(MOUNT, kind, paths.get(kind) ?? "/");
    if (isWritable(folder, constants.W_OK)) kinds[kind] = join(folder, OURS);
  }
  return { version: 1, kinds };
}

function makeGroups(parents: GroupParents, name: string, limits: Limits, log: Log): GroupSet {
  if (parents.version === 2) {
    const folder = join(parents.all, name);
    const isMade = attempt(log, () => {
      clear(folder, log);
      writeUnified(folder, limits);
    });
    return { folders: isMade ? [folder] : [], boundsProcesses: isMade, boundsMemory: isMade };
  }
  const made = new Map(
    Object.entries(parents.kinds).flatMap(([kind, parent]): [string, string][] => {
      const folder = join(parent, name);
      const isMade = attempt(log, () => {
        clear(folder, log);
        writeOlder(kind, folder, limits);
      });
      return isMade ? [[kind, folder]] : [];
    }),
  );
  return { folders: [...made.values()], boundsProcesses: made.has("pids"), boundsMemory: made.has("memory") };
}

/** A group left by an earlier run may have limits that cannot be changed in the needed order, so it is removed. */
function clear(folder: string, log: Log): void {
  if (existsSync(folder)) removeGroup(folder, log);
}

function writeUnified(folder: string, { pids, memoryBytes, memorySwapBytes, cpus }: Limits): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "pids.max"), String(pids));
  writeFileSync(join(folder, "memory.max"), String(memoryBytes));
  writeIfThere(join(folder, "memory.swap.max"), String(memorySwapBytes - memoryBytes));
  if (cpus !== undefined) writeFileSync(join(folder, "cpu.max"), `${Math.ceil(cpus * 100_000)} 100000`);
}

function writeOlder(kind: string, folder: string, { pids, memoryBytes, memorySwapBytes, cpus }: Limits): void {
  mkdirSync(folder, { recursive: true });
  if (kind === "pids") writeFileSync(join(folder, "pids.max"), String(pids));
  if (kind === "memory") {
    writeFileSync(join(folder, "memory.limit_in_bytes"), String(memoryBytes));
    writeIfThere(join(folder, "memory.memsw.limit_in_bytes"), String(memorySwapBytes));
  }
  if (kind === "cpu" && cpus !== undefined) {
    writeFileSync(join(folder, "cpu.cfs_quota_us"), String(Math.ceil(cpus * 100_000)));
  }
}

/** Kernels without swap accounting lack this file. */
function writeIfThere(file: string, value: string): void {
  if (isWritable(file, constants.W_OK)) writeFileSync(file, value);
}

function removeGroup(folder: string, log: Log): void {
  attempt(log, () => rmdirSync(folder));
}

function attempt(log: Log, work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    log.debug("could not use a control group", { error });
    return false;
  }
}

function isWritable(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
