// From a tool call and a path to the root it may use: the workspace, the whole disk, or a folder opened for reading.
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";

import type { Lanes } from "../../base/lane.ts";
import { openRoot, type Root } from "../../base/rooted-fs.ts";
import type { ToolCall } from "../tool.ts";
import { createGuard, type GuardedPaths } from "./guard.ts";
import { likelyPath, parsePath, type PathContext, type Reading } from "./path.ts";
import { foldName, sharedFolders } from "./protect.ts";

export interface FileToolDeps extends GuardedPaths {
  /** One for all file tools: work on one file runs one after the other. */
  readonly lanes: Lanes;
  /** Folders that `read` may use even when paths are bound to the workspace: bundled and installed skills. */
  readonly readRoots?: readonly string[];
}

/** A path ready to be used: `root` keeps every access inside what the call may touch. */
export interface Access {
  readonly root: Root;
  readonly path: string;
}

/** Opens what the path may use, gives it to `use`, and closes it. */
export async function withPath<T>(
  deps: FileToolDeps,
  call: ToolCall,
  raw: string,
  wants: "read" | "write",
  use: (access: Access) => Promise<T>,
): Promise<T> {
  const context = contextOf(deps, call);
  const readings = parsePath(raw, context);
  const guard = createGuard(deps, call.workspace, context.bound);
  const place = rootFor(deps, context, wants, readings);
  // A workspace comes into being with its first file; the parents of any other file do, too.
  if (wants === "write" && place === context.workspace) await mkdir(place, { recursive: true });
  const root = await openRoot({
    root: place,
    guard,
    outsideHint: context.outsideHint,
    mayShare: (real) => real.split("/").some((name) => sharedFolders.has(foldName(name))),
  });
  try {
    return await use({ root, path: await choose(root, readings) });
  } finally {
    root.close();
  }
}

/** For intents: the absolute path as far as it can be told without looking. */
export function intendedPaths(deps: FileToolDeps, call: ToolCall, raw: unknown): string[] {
  return likelyPath(raw, contextOf(deps, call));
}

function contextOf({ home }: FileToolDeps, { workspace, workspaceOnly, sandboxed }: ToolCall): PathContext {
  return {
    workspace: resolve(workspace),
    home,
    bound: workspaceOnly || sandboxed,
    outsideHint: sandboxed
      ? "use a path inside the sandbox's workspace"
      : "use a path inside the workspace, or let file tools leave it: openclaw config set tools.fs.workspaceOnly false",
    ...(sandboxed ? { boxed: "/workspace" } : {}),
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
