// Reads the mount table and finds the other paths by which a folder can be reached.
import { readFileSync } from "node:fs";

import { isWithin } from "../sandbox/hidden-paths.ts";

/** One row of /proc/self/mountinfo: the part `root` of the file system `device` appears at `path`. */
export interface MountRow {
  readonly device: string;
  readonly root: string;
  readonly path: string;
}

export function readMounts(): readonly MountRow[] {
  return process.platform === "linux" ? parseMounts(readFileSync("/proc/self/mountinfo", "utf8")) : [];
}

export function parseMounts(text: string): readonly MountRow[] {
  return text.split("\n").flatMap((line): MountRow[] => {
    const [, , device, root, path] = line.split(" ");
    if (device === undefined || root === undefined || path === undefined) return [];
    return [{ device, root: unescaped(root), path: unescaped(path) }];
  });
}

/**
 * Other paths where a folder or a part of it may appear: the same file system mounted twice, or a bind mount. By name
 * only; a later mount may hide it, so callers must compare the result with the file system.
 */
export function otherPathsOf(folder: string, mounts: readonly MountRow[]): readonly string[] {
  const own = mounts
    .filter(({ path }) => isWithin(folder, path))
    .reduce<MountRow | undefined>((best, row) => (row.path.length >= (best?.path.length ?? 0) ? row : best), undefined);
  if (own === undefined) return [];
  const inside = joined(own.root, below(folder, own.path));
  const paths = mounts
    .filter((row) => row.device === own.device)
    .flatMap(({ root, path }) => {
      if (isWithin(inside, root)) return [joined(path, below(inside, root))];
      return isWithin(root, inside) ? [path] : [];
    });
  return [...new Set(paths)].filter((path) => !isWithin(path, folder));
}

const below = (path: string, folder: string): string => (folder === "/" ? path : path.slice(folder.length));
const joined = (folder: string, rest: string): string =>
  folder === "/" ? rest || "/" : `${folder}${rest === "/" ? "" : rest}`;

/** The kernel writes spaces, tabs, newlines and backslashes as octal escapes. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
