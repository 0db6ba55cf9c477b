// Opens the root that a file tool may use for a path: the workspace, the whole disk, or a readable folder.
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

import { batchesIn, type Batches } from "../../base/batch.ts";
import type { Lanes } from "../../base/lane.ts";
import { openRoot, type Root } from "../../base/rooted-fs.ts";
import type { Block } from "../../core/message.ts";
import type { ToolCall } from "../tool.ts";
import type { FileSaver } from "../undo/file-saver.ts";
import { createPathCheck, type GatewayPaths } from "./forbidden-paths.ts";
import { createSaving } from "./save-before-change.ts";
import { likelyPath, parsePath, type PathContext, type Reading } from "./path.ts";
import { foldName, sharedFolders } from "./protect.ts";

export interface FileToolDeps extends GatewayPaths {
  /** One for all file tools: changes of one file run one after the other. */
  readonly lanes: Lanes;
  /** Folders that `read` may use even when paths are limited to the workspace: bundled and installed skills. */
  readonly readRoots?: readonly string[];
  /** Saves files before a turn changes them. */
  readonly fileSaver?: FileSaver;
  /** Workspaces whose steering files (AGENTS.md, HEARTBEAT.md, MEMORY.md …) this call cannot change. */
  readonly protectedFolders?: (call: ToolCall) => Promise<readonly string[]>;
  /** Called before every step of a change to several files; tests end the process there. */
  readonly step?: (name: string) => void;
}

/** A path ready to use: `root` limits every access to what the call may touch. */
export interface Access {
  readonly root: Root;
  readonly path: string;
  /** Throws what a write would throw; else returns the key under which changes of this file are serialized. */
  readonly claim: () => Promise<string>;
  /** Notes about files that undo cannot restore. */
  readonly remarks: () => Block[];
}

/** The workspace only, for changes to several files. */
export interface WorkspaceAccess {
  readonly root: Root;
  readonly batches: Batches;
  /** Resolves a path from the model to one below the root; rejects paths that lead out. */
  readonly locate: (raw: string) => Promise<string>;
  readonly remarks: () => Block[];
}

/** Opens the root for the path, passes it to `use`, and closes it. */
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
  const saving = createSaving(deps.fileSaver, call);
  try {
    const path = await choose(root, readings);
    const claim = async (): Promise<string> => {
      const real = await root.checkWrite(path);
      batches.note(dirname(real));
      return laneOf(real);
    };
    return await use({ root: saving.root(root), path, claim, remarks: saving.remarks });
  } finally {
    root.close();
  }
}

/** Paths stay inside the workspace here, even if `tools.fs.workspaceOnly` is false. */
export async function withWorkspace<T>(
  deps: FileToolDeps,
  call: ToolCall,
  use: (ground: WorkspaceAccess) => Promise<T>,
): Promise<T> {
  const context: PathContext = {
    ...contextOf(deps, call),
    bound: true,
    outsideHint: "a patch cannot leave the workspace: use a relative path, or write and edit for files elsewhere",
  };
  const batches = batchesOf(deps);
  await batches.recover();
  const root = await openAt(deps, context, context.workspace, "write", await deps.protectedFolders?.(call));
  const saving = createSaving(deps.fileSaver, call);
  try {
    const locate = (raw: string): Promise<string> => choose(root, parsePath(raw, context));
    return await use({ root, batches: saving.batches(batches), locate, remarks: saving.remarks });
  } finally {
    root.close();
  }
}

/** Completes or reverts what a killed gateway left unfinished: at the next start, or by the first file tool if that failed. */
export function recoverFiles(deps: Pick<FileToolDeps, "stateDir">): Promise<void> {
  return batchesOf(deps).recover();
}

/** What file tools of a session may use now, to restore `paths`: the workspace if it contains all of them. */
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

/** Locks in one fixed order, so that two changes of several files never deadlock. */
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
  // A workspace is created with its first file, and so are the parent folders of any other file.
  if (wants === "write" && place === workspace) await mkdir(place, { recursive: true });
  return openRoot({
    root: place,
    check: createPathCheck(deps, workspace, bound, closed),
    outsideHint,
    mayShare: (real) => real.split("/").some((name) => sharedFolders.has(foldName(name))),
  });
}

/** For intents: the absolute path, as far as it is known without reading the disk. */
export function intendedPaths(deps: FileToolDeps, call: ToolCall, raw: unknown): string[] {
  return likelyPath(raw, contextOf(deps, call));
}

type Seen = Pick<ToolCall, "workspace" | "workspaceOnly" | "sandboxed" | "inside">;

/** With read-only access the agent's own workspace is visible beside the sandbox's, and only `read` can use it. */
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
      : "use a path inside the workspace, or allow other paths: openclaw config set tools.fs.workspaceOnly false",
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

/** The first reading that exists, or the last one if none does. */
async function choose(root: Root, readings: readonly Reading[]): Promise<string> {
  for (const { path, when } of readings) {
    if (when === undefined || (await root.stat(when)) !== undefined) return path;
  }
  throw new Error("the last reading of a path has no condition");
}
