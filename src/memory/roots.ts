// Which files are memory: the notes of the workspace and the further paths of the config, each bound to its root.
import { lstatSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";

import { errnoOf } from "../core/error.ts";
import type { IndexSettings } from "./settings.ts";

export interface MemoryRoot {
  /** Absolute; everything is walked from here, link by link. */
  readonly folder: string;
  /** Put in front of names below it; "" or ends with a slash. */
  readonly prefix: string;
  /** The names in `folder` that count; undefined: every note, and folders too. */
  readonly only?: readonly string[];
  /** Names of folders in `folder` that are walked although `only` is given. */
  readonly into?: readonly string[];
}

/** The curated file, under either name; the first that is there counts. */
export const curatedNames = ["MEMORY.md", "memory.md"] as const;

export function memoryRoots({ workspace, extraPaths }: Pick<IndexSettings, "workspace" | "extraPaths">): MemoryRoot[] {
  const notes: MemoryRoot = { folder: workspace, prefix: "", only: curatedNames, into: ["memory"] };
  return [notes, ...extraPaths.flatMap((path) => extraRoot(path, workspace))];
}

export const isNote = (name: string): boolean => /\.md$/i.test(name) && !name.startsWith(".");

/** Folders of programs (.git, .obsidian, node_modules) hold no notes of people. */
export const isWalked = (name: string): boolean => !name.startsWith(".") && name !== "node_modules";

/** How a file is called in results: below the workspace by its path there, elsewhere by its full path. */
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

/** A further path that is itself a link is left out, as links everywhere are. */
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

/** Where a path of a result or of a caller would lie. Undefined: it is no memory. Nothing is looked up. */
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
