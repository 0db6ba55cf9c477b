// Opens the root that a file tool may use for a path: the workspace, the whole disk, or a readable folder.
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

import { batchesIn, type Batches } from "../../base/batch.ts";
import type { Lanes } from "../../base/lane.ts";
import { openRoot, type Root } from "../../base/rooted-fs.ts";
import type { Block } from "../../core/message.ts";
import type { ToolCall } from "../tool.ts";
import type { Keeper } from "../undo/keep.ts";
import { createGuard, type GuardedPaths } from "./guard.ts";
import { createKeeping } from "./keeping.ts";
import { likelyPath, parsePath, type PathContext, type Reading } from "./path.ts";
import { foldName, sharedFolders } from "./protect.ts";

export interface FileToolDeps extends GuardedPaths {
  /** One for all file tools: work on one file runs one after the other. */
  readonly lanes: Lanes;
  /** Folders that `read` may use even when paths are bound to the workspace: bundled and installed skills. */
  readonly readRoots?: readonly string[];
  /** Keeps files as they are before a turn changes them. */
  readonly keeper?: Keeper;
  /** Workspaces whose steering files (AGENTS.md, HEARTBEAT.md, MEMORY.md …) are not for this call to change. */
  readonly protectedFolders?: (call: ToolCall) => Promise<readonly string[]>;
  /** Told before every step of a change to several files; tests end the process there. */
  readonly step?: (name: string) => void;
}

/** A path ready to be used: `root` keeps every access inside what the call may touch. */
export interface Access {
  readonly root: Root;
  readonly path: string;
  /** Throws what a write would refuse; else the key under which work on this file is done one after the other. */
  readonly claim: () => Promise<string>;
  /** What to say about files that undo will not bring back. */
  readonly remarks: () => Block[];
}

/** The workspace and nothing else, for changes to several files. */
export interface Ground {
  readonly root: Root;
  readonly batches: Batches;
  /** From what the model wrote to a path below the root; says no to what leads out. */
  readonly locate: (raw: string) => Promise<string>;
  readonly remarks: () => Block[];
}

/** Opens what the path may use, gives it to `use`, and closes it. */
export async function withPath<T>(
  deps: FileToolDeps,
  call: ToolCall,
  raw: string,
  wants: "read" | "write",
  use: (access: Access) => Promise<T>,
): Promise<T> {
  const context = contextOf(deps, wants === "read" ? seenFrom(call, raw) : call);
  const readings = parsePath(raw, context);
  const batches = batchesOf(deps);
  await batches.recover();
  const place = rootFor(deps, context, wants, readings);
  const closed = wants === "write" ? await deps.protectedFolders?.(call) : undefined;
  const root = await openAt(deps, context, place, wants, closed);
  const keeping = createKeeping(deps.keeper, call);
  try {
    const path = await choose(root, readings);
    const claim = async (): Promise<string> => {
      const real = await root.checkWrite(path);
      batches.note(dirname(real));
      return laneOf(real);
    };
    return await use({ root: keeping.root(root), path, claim, remarks: keeping.remarks });
  } finally {
    root.close();
  }
}

/** Paths stay inside the workspace here, whatever `tools.fs.workspaceOnly` says. */
export async function withWorkspace<T>(
  deps: FileToolDeps,
  call: ToolCall,
  use: (ground: Ground) => Promise<T>,
): Promise<T> {
  const context: PathContext = {
    ...contextOf(deps, call),
    bound: true,
    outsideHint: "a patch stays inside the workspace: use a relative path, or write and edit for files elsewhere",
  };
  const batches = batchesOf(deps);
  await batches.recover();
  const root = await openAt(deps, context, context.workspace, "write", await deps.protectedFolders?.(call));
  const keeping = createKeeping(deps.keeper, call);
  try {
    const locate = (raw: string): Promise<string> => choose(root, parsePath(raw, context));
    return await use({ root, batches: keeping.batches(batches), locate, remarks: keeping.remarks });
  } finally {
    root.close();
  }
}

/** Puts right what a killed gateway left half done: at its next start, and by the first file tool where that failed. */
export function recoverFiles(deps: Pick<FileToolDeps, "stateDir">): Promise<void> {
  return batchesOf(deps).recover();
}

/** What file tools of a session may use now, for putting back `paths`: the workspace where it holds all of them. */
export async function withFiles<T>(
  deps: FileToolDeps,
  call: Pick<ToolCall, "workspace" | "workspaceOnly" | "sandboxed">,
  paths: readonly string[],
  use: (root: Root, batches: Batches) => Promise<T>,
): Promise<T> {
  const context = contextOf(deps, call);
  const batches = batchesOf(deps);
  await batches.recover();
  const inside = await openAt(deps, { ...context, bound: true }, context.workspace, "write");
  const isWithin = paths.every((path) => path.startsWith(`${inside.real}/`));
  if (!isWithin) inside.close();
  const root = isWithin ? inside : await openAt(deps, context, context.bound ? context.workspace : "/", "write");
  try {
    return await inLanes(deps.lanes, paths.map(laneOf), undefined, () => use(root, batches));
  } finally {
    root.close();
  }
}

/** In one order for all, so that two changes of several files never wait for each other. */
export function inLanes<T>(
  lanes: Lanes,
  keys: readonly string[],
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  return [...new Set(keys)]
    .toSorted()
    .reduceRight<() => Promise<T>>((inner, key) => () => lanes.run(key, inner, signal), work)();
}

export const laneOf = (real: string): string => real.toLowerCase();

const batchesOf = ({ stateDir }: Pick<FileToolDeps, "stateDir">): Batches => batchesIn(join(stateDir, "unfinished"));

async function openAt(
  deps: FileToolDeps,
  { bound, workspace, outsideHint }: PathContext,
  place: string,
  wants: "read" | "write",
  closed: readonly string[] = [],
): Promise<Root> {
  // A workspace comes into being with its first file; the parents of any other file do, too.
  if (wants === "write" && place === workspace) await mkdir(place, { recursive: true });
  return openRoot({
    root: place,
    guard: createGuard(deps, workspace, bound, closed),
    outsideHint,
    mayShare: (real) => real.split("/").some((name) => sharedFolders.has(foldName(name))),
  });
}

/** For intents: the absolute path as far as it can be told without looking. */
export function intendedPaths(deps: FileToolDeps, call: ToolCall, raw: unknown): string[] {
  return likelyPath(raw, contextOf(deps, call));
}

type Seen = Pick<ToolCall, "workspace" | "workspaceOnly" | "sandboxed" | "inside">;

/** With read-only access the agent's own workspace stands beside the sandbox's, and only `read` can go there. */
function seenFrom(call: ToolCall, raw: string): Seen {
  const { agentWorkspace } = call;
  const isThere = agentWorkspace !== undefined && /^@?\/agent(?:\/|$)/.test(raw.trim());
  return isThere ? { ...call, workspace: agentWorkspace, inside: "/agent" } : call;
}

function contextOf({ home }: FileToolDeps, { workspace, workspaceOnly, sandboxed, inside }: Seen): PathContext {
  return {
    workspace: resolve(workspace),
    home,
    bound: workspaceOnly || sandboxed,
    outsideHint: sandboxed
      ? "use a path inside the sandbox's workspace"
      : "use a path inside the workspace, or let file tools leave it: openclaw config set tools.fs.workspaceOnly false",
    ...(sandboxed ? { sandboxed: inside ?? "/workspace" } : {}),
  };
}

function rootFor(
  deps: FileToolDeps,
  { bound, workspace }: PathContext,
  wants: "read" | "write",
  readings: readonly Reading[],
): string {
  if (!bound) return "/";
  const wanted = readings.at(-1)?.path ?? "";
  const extra = wants === "read" ? deps.readRoots?.find((folder) => wanted.startsWith(`${folder}/`)) : undefined;
  return extra ?? workspace;
}

/** The first reading that is there; the last one when none is. */
async function choose(root: Root, readings: readonly Reading[]): Promise<string> {
  for (const { path, when } of readings) {
    if (when === undefined || (await root.stat(when)) !== undefined) return path;
  }
  throw new Error("the last reading of a path has no condition");
}
