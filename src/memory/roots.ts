// Defines which files are memory: the notes of the workspace and the configured extra paths, each below its root.
import { lstatSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";

import { errnoOf } from "../core/error.ts";
import type { IndexSettings } from "./settings.ts";

export interface MemoryRoot {
  /** Absolute path of the folder that the walk starts from. */
  readonly folder: string;
  /** Prefix of the names below it; "" or ends with a slash. */
  readonly prefix: string;
  /** The relevant names in `folder`; undefined means every note and every folder. */
  readonly only?: readonly string[];
  /** Folders in `folder` that are walked in addition to `only`. */
  readonly into?: readonly string[];
}

/** The names of the curated file; the first that exists counts. */
export const curatedNames = ["MEMORY.md", "memory.md"] as const;

export function memoryRoots({ workspace, extraPaths }: Pick<IndexSettings, "workspace" | "extraPaths">): MemoryRoot[] {
  const notes: MemoryRoot = { folder: workspace, prefix: "", only: curatedNames, into: ["memory"] };
  return [notes, ...extraPaths.flatMap((path) => extraRoot(path, workspace))];
}

export const isNote = (name: string): boolean => /\.md$/i.test(name) && !name.startsWith(".");

/** Skips folders of programs (.git, .obsidian, node_modules). */
export const isWalked = (name: string): boolean => !name.startsWith(".") && name !== "node_modules";

/** The path shown in results: relative below the workspace, absolute elsewhere. */
export function shownPath(workspace: string, path: string): string {
  const below = relative(workspace, path);
  return below === "" || below.startsWith("..") ? path : below.split(sep).join("/");
}

function extraRoot(path: string, workspace: string): MemoryRoot[] {
  const kind = kindOf(path);
  if (kind === "file" && isNote(basename(path))) {
    const folder = dirname(path);
    return [{ folder, prefix: prefixOf(folder, workspace), only: [basename(path)] }];
  }
  return kind === "folder" ? [{ folder: path, prefix: prefixOf(path, workspace) }] : [];
}

function prefixOf(folder: string, workspace: string): string {
  if (folder === workspace) return "";
  const shown = shownPath(workspace, folder);
  return shown.endsWith("/") ? shown : `${shown}/`;
}

/** An extra path that is itself a link is skipped, like every link. */
function kindOf(path: string): "file" | "folder" | undefined {
  try {
    const stats = lstatSync(path);
    if (stats.isFile()) return "file";
    return stats.isDirectory() ? "folder" : undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The root a path belongs to; undefined for a path outside memory. Does not touch the disk. */
export function rootOf(
  settings: Pick<IndexSettings, "workspace" | "extraPaths">,
  path: string,
): { readonly root: string; readonly name: string } | undefined {
  const names = path.split(/[/\\]/).filter((name) => name !== "" && name !== ".");
  if (path.includes("\0") || names.includes("..") || !isNote(names.at(-1) ?? "")) return undefined;
  const full = path.startsWith("/") ? `/${names.join("/")}` : join(settings.workspace, ...names);
  const shown = shownPath(settings.workspace, full);
  if (curatedNames.some((name) => name === shown)) return { root: settings.workspace, name: shown };
  if (shown.startsWith("memory/")) return { root: settings.workspace, name: shown };
  for (const extra of settings.extraPaths) {
    if (full === extra) return { root: dirname(extra), name: basename(extra) };
    if (full.startsWith(`${extra}/`)) return { root: extra, name: full.slice(extra.length + 1) };
  }
  return undefined;
}
