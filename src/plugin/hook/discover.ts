// Finds hooks by precedence and says whether each would run, without loading code.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

import { errnoOf, OpenClawError } from "../../core/error.ts";
import { expandHome, type Env, type Paths } from "../../base/paths.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { readCard } from "./card.ts";
import { readHookFiles, requireOwn } from "./folder.ts";
import type { HookCard, HookRow, HookSource } from "./hook.ts";
import { missingOf } from "./requirements.ts";

export interface HookPlaces {
  readonly config: Config;
  readonly paths: Paths;
  readonly env: Env;
  /** The bundled hooks. */
  readonly bundled: readonly HookCard[];
}

/**
 * Every hook, sorted by name. The first location that has a name wins: workspaces, the state folder,
 * bundled, extra folders. But a folder that agents can write never replaces a hook that a person enabled without
 * a pin, because writing a file would then be enough to run code in the gateway.
 */
export function discoverHooks(places: HookPlaces): readonly HookRow[] {
  const found = findHooks(places);
  const names = [...new Set(found.map(({ name }) => name))].sort();
  return names.flatMap((name) => {
    const same = found.filter((row) => row.name === name);
    const isPinned = entryOf(places.config, name).pin !== undefined;
    const chosen = same.find(({ needsPin }) => needsPin === isPinned) ?? same[0];
    return chosen === undefined ? [] : [chosen];
  });
}

/** All hooks in the order of their locations, including those that another one replaces. */
export function findHooks(places: HookPlaces): readonly HookRow[] {
  return [...regularHooks(places), ...extras(places)];
}

export function entryOf(config: Config, name: string) {
  const entries = config.hooks?.internal?.entries ?? {};
  return (Object.hasOwn(entries, name) ? entries[name] : undefined) ?? {};
}

function regularHooks(places: HookPlaces): HookRow[] {
  const { config, paths, bundled } = places;
  const workspaces = [...new Set(agentIds(config).map((id) => workspaceOf(config, id, paths)))];
  return [
    ...workspaces.flatMap((folder) => rowsIn(places, join(folder, "hooks"), "workspace")),
    ...rowsIn(places, join(paths.state, "hooks"), "managed"),
    ...bundled.map((card) => finish(places, card, { source: "bundled", needsPin: false })),
  ];
}

function extras(places: HookPlaces): HookRow[] {
  const { config, paths } = places;
  const folders = config.hooks?.internal?.load?.extraDirs ?? [];
  return folders.flatMap((folder) => rowsIn(places, expandHome(folder, paths.home), "extra"));
}

/** A limit, because agents can write in some of these folders and every hook there is read. */
const MAX_HOOKS = 100;

/** A folder without HOOK.md is not a hook. */
function rowsIn(places: HookPlaces, folder: string, source: HookSource): HookRow[] {
  return namesIn(folder)
    .slice(0, MAX_HOOKS)
    .flatMap((name) => {
      const place = join(folder, name);
      if (!existsSync(join(place, "HOOK.md"))) return [];
      return [rowOf(places, place, source)];
    });
}

function rowOf(places: HookPlaces, folder: string, source: HookSource): HookRow {
  const needsPin = source === "workspace" || isInWorkspace(folder, places);
  const unknown = { ...emptyCard, name: basename(folder) };
  try {
    if (!needsPin) for (const place of [dirname(folder), folder]) requireOwn(place, "folder");
    const digest = needsPin ? readHookFiles(folder).digest : undefined;
    const card = readCard(readFileSync(join(folder, "HOOK.md"), "utf8"), basename(folder));
    const file = scripts.map((name) => join(folder, name)).find((path) => existsSync(path));
    if (file === undefined)
      return finish(places, card, { source, folder, needsPin }, `it has no script: ${scripts.join(", ")}`);
    if (!needsPin) requireOwn(file, "file");
    return finish(places, card, { source, folder, file, needsPin, ...(digest === undefined ? {} : { digest }) });
  } catch (error) {
    if (!(error instanceof OpenClawError) && errnoOf(error) === undefined) throw error;
    return finish(
      places,
      unknown,
      { source, folder, needsPin },
      error instanceof Error ? error.message : String(error),
    );
  }
}

const scripts = ["handler.ts", "handler.js", "handler.mjs"] as const;

const emptyCard: Omit<HookCard, "name"> = {
  description: "",
  events: [],
  always: false,
  requires: { bins: [], anyBins: [], env: [], config: [], os: [] },
};

type Found = Pick<HookRow, "source" | "folder" | "file" | "needsPin" | "digest">;

function finish({ config, env }: HookPlaces, card: HookCard, found: Found, wrong?: string): HookRow {
  const entry = entryOf(config, card.name);
  const missing = card.always ? [] : missingOf(card.requires, { config, env: { ...env, ...entry.env } });
  const enabled = config.hooks?.internal?.enabled === true && entry.enabled === true;
  const problem = wrong ?? (enabled ? pinProblem(found, entry.pin, card.name) : undefined);
  const runs = enabled && missing.length === 0 && problem === undefined;
  return { ...card, ...found, enabled, missing, ...(problem === undefined ? {} : { problem }), runs };
}

function pinProblem({ needsPin, digest }: Found, pin: string | undefined, name: string): string | undefined {
  if (!needsPin)
    return pin === undefined
      ? undefined
      : "it is pinned, but the pinned version was in a workspace and no longer exists";
  if (pin === undefined)
    return `agents can write its folder, so a person must enable it: openclaw hooks enable ${name}`;
  return digest === pin
    ? undefined
    : `it has changed since it was enabled; review it, then run: openclaw hooks enable ${name}`;
}

function isInWorkspace(folder: string, { config, paths }: HookPlaces): boolean {
  const real = realOf(folder);
  return agentIds(config).some((id) => {
    const workspace = realOf(workspaceOf(config, id, paths));
    return real === workspace || real.startsWith(`${workspace}${sep}`);
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return path;
  }
}
