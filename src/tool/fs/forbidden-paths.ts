// Rejects paths that file tools never touch: gateway state, secrets, files that programs run, and pseudo files.
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { refused } from "../../base/rooted-error.ts";
import type { PathCheck, Visit } from "../../base/rooted-fs.ts";
import { foldName, plainProcFiles, protectionOf, readableState, steeringFolders, steeringNames } from "./protect.ts";

export interface GatewayPaths {
  readonly stateDir: string;
  readonly configPath: string;
  readonly approvalsPath: string;
  readonly home: string;
}

/**
 * Looks up real paths and identities once per call, so that links and hard links cannot replace them. Synchronous on
 * purpose: a dozen trips through the thread pool would cost more than the call.
 */
export function createPathCheck(
  paths: GatewayPaths,
  workspace: string,
  isBound: boolean,
  closed: readonly string[] = [],
): PathCheck {
  const { stateDir, configPath, approvalsPath, home } = paths;
  const zones: Zones = {
    states: [stateDir, join(home, ".openclaw"), join(home, ".moltbot")].map(identify),
    profiles: join(home, ".openclaw-"),
    ours: [configPath, approvalsPath].map(identify),
    workspace: identify(workspace),
    closed: closed.map(identify),
    isBound,
  };
  return (visit) => {
    refusePseudo(visit, zones);
    if (visit.access === "follow") return;
    refuseOurs(visit, zones);
    refuseState(visit, zones);
    if (visit.access !== "write") return;
    refuseNames(visit, zones);
    refuseSteering(visit, zones);
  };
}

interface Zone {
  /** The path as given and its real path, in lower case; equal when the path does not exist yet. */
  readonly paths: readonly string[];
  readonly id: string | undefined;
}

interface Zones {
  readonly states: readonly Zone[];
  /** State directories of other profiles start with this. */
  readonly profiles: string;
  readonly ours: readonly Zone[];
  readonly workspace: Zone;
  /** Workspaces whose steering files this call cannot change. */
  readonly closed: readonly Zone[];
  readonly isBound: boolean;
}

function identify(path: string): Zone {
  try {
    const real = realpathSync.native(path);
    const { dev, ino } = statSync(real, { bigint: true });
    return { paths: spellingsOf(path, real), id: `${dev}:${ino}` };
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return { paths: spellingsOf(path, realOfMissing(path)), id: undefined };
  }
}

/** A config that does not exist yet is protected where it would appear. */
function realOfMissing(path: string): string {
  const folder = dirname(path);
  if (folder === path) return path;
  try {
    return join(realpathSync.native(folder), basename(path));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return join(realOfMissing(folder), basename(path));
  }
}

function spellingsOf(...paths: readonly string[]): string[] {
  return [...new Set(paths.map((path) => path.toLowerCase()))];
}

/** /dev, /proc and /sys contain no regular files; /proc even contains our own environment. */
function refusePseudo({ access, real }: Visit, zones: Zones): void {
  const [top, ...rest] = real.split("/").slice(1);
  const place = `/${top}`;
  const isHome = zones.workspace.paths.some((path) => path.startsWith(`${place}/`));
  if (isHome && depthIn(zones.workspace, real) !== undefined) return;
  if (place === "/proc" && access === "read" && rest.length <= 1 && plainProcFiles.has(rest[0] ?? "")) return;
  if (place === "/sys" && access !== "write") return;
  if (place !== "/dev" && place !== "/proc" && place !== "/sys") return;
  throw refused("fs.special-file", real, `${place} contains devices and processes, not files`, {
    hint: "name a regular file",
    rule: `fs.pseudo:${place}`,
  });
}

function refuseOurs({ access, real, trail }: Visit, { ours }: Zones): void {
  const lower = real.toLowerCase();
  for (const { paths, id } of ours) {
    // Backups are beside the file: openclaw.json.bak, openclaw.json.bak.1 …
    const same = paths.some(
      (path) => lower === path || (lower.startsWith(path) && /^\.[^/]*$/.test(lower.slice(path.length))),
    );
    if (!same && (id === undefined || trail.at(-1)?.id !== id)) continue;
    throw refused(
      "fs.protected",
      real,
      `contains the gateway's own settings, which file tools cannot ${access === "read" ? "read" : "write"}`,
      {
        hint: "use openclaw config get or openclaw approvals get",
        rule: "fs.protected:settings",
      },
    );
  }
}

function refuseState(visit: Visit, zones: Zones): void {
  const below = belowState(visit, zones);
  if (below === undefined) return;
  const [first = ""] = below;
  if (visit.access === "read" && readableState.has(first)) return;
  throw refused(
    "fs.protected",
    visit.real,
    `belongs to the gateway's state, which file tools cannot ${visit.access === "read" ? "read" : "write"}`,
    {
      hint: "work in the workspace; the gateway's own commands manage its state",
      rule: "fs.protected:state",
    },
  );
}

/** The names below the state directory, unless a workspace inside it is closer. */
function belowState({ real, trail }: Visit, { states, profiles, workspace }: Zones): string[] | undefined {
  const names = real.split("/").slice(1);
  const depths = states.flatMap((zone) => [depthIn(zone, real), depthById(zone, trail)]);
  if (real.toLowerCase().startsWith(profiles.toLowerCase())) depths.push(profiles.split("/").length - 1);
  const depth = Math.max(...depths.filter((value) => value !== undefined));
  if (!Number.isFinite(depth)) return undefined;
  const workspaceDepth = depthIn(workspace, real);
  if (workspaceDepth !== undefined && workspaceDepth > depth) return undefined;
  const below = names.slice(depth).map((name) => name.toLowerCase());
  return /^workspace(-|$)/.test(below[0] ?? "") ? undefined : below;
}

/** How many names of the path belong to the zone; undefined when the path is outside of it. */
function depthIn({ paths }: Zone, real: string): number | undefined {
  const lower = real.toLowerCase();
  const path = paths.find((start) => lower === start || lower.startsWith(`${start}/`) || start === "/");
  return path === undefined ? undefined : path.split("/").filter((name) => name !== "").length;
}

/** The same by identity, for disks on which one folder has two paths. */
function depthById({ id }: Zone, trail: Visit["trail"]): number | undefined {
  const found = id === undefined ? undefined : trail.find((step) => step.id === id);
  return found?.real.split("/").filter((name) => name !== "").length;
}

function refuseNames({ real }: Visit, { workspace, isBound }: Zones): void {
  const names = real.split("/").slice(1);
  const rule = protectionOf(names.slice(depthIn(workspace, real) ?? 0), isBound);
  if (rule === undefined) return;
  throw refused("fs.protected", real, `is protected: ${rule.reason}`, {
    hint: "change it yourself, or through the program it belongs to",
    rule: `fs.protected:${rule.names.join("/")}`,
  });
}

/** Every later turn reads these files as instructions, so an untrusted turn cannot write them. */
function refuseSteering({ real, trail }: Visit, { closed }: Zones): void {
  const names = real.split("/").slice(1);
  const depths = closed.flatMap((zone) => [depthIn(zone, real), depthById(zone, trail)]);
  const steers = (depth: number): boolean => {
    const name = foldName(names[depth] ?? "");
    return steeringFolders.has(name) || (depth === names.length - 1 && steeringNames.has(name));
  };
  if (!depths.some((depth) => depth !== undefined && steers(depth))) return;
  throw refused("fs.protected", real, "steers later turns, and untrusted content led to this turn", {
    hint: "the owner can change it, or ask for the change in their own chat",
    rule: "fs.protected:steering",
  });
}
