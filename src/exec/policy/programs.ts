// Identifies programs, scripts and folders by path, device and inode, with links resolved.
import { readlinkSync, realpathSync, statSync, type BigIntStats } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { isRunnable } from "../find-program.ts";
import type { Identity } from "./plan.ts";

/** Where to search for a program. */
export interface ProgramSearch {
  readonly cwd: string;
  readonly path: readonly string[];
}

/** Files there differ per process, such as /dev/stdin. */
const perProcess = /^\/(?:proc|dev|sys)\//;

/** Undefined when there is none. Skips relative folders on PATH, because they depend on the working folder. */
export function identifyProgram(name: string, search: ProgramSearch): Identity | undefined {
  if (name === "") return undefined;
  if (name.includes("/")) return executable(resolve(search.cwd, name));
  for (const folder of search.path) {
    if (!isAbsolute(folder)) continue;
    const found = executable(join(folder, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Folders that only the administrator can write. */
export const trustedFolders: readonly string[] = [
  "/bin",
  "/usr/bin",
  "/sbin",
  "/usr/sbin",
  "/run/current-system/sw/bin",
];

/** True when both the path and the real file are in such a folder. */
export function inTrustedFolder(
  { path, real }: { readonly path: string; readonly real: string },
  folders = trustedFolders,
): boolean {
  return (
    folders.includes(dirname(path)) &&
    (folders.includes(dirname(real)) || real.startsWith("/usr/lib/") || real.startsWith("/nix/store/"))
  );
}

/** Identifies a file or folder without its content; undefined when it does not exist. */
export function identityOf(path: string, kind: "file" | "folder"): Identity | undefined {
  const stats = statOf(path);
  if (stats === undefined || !(kind === "file" ? stats.isFile() : stats.isDirectory())) return undefined;
  const real = realOf(path);
  return real === undefined ? undefined : { path, real, device: stats.dev.toString(), inode: stats.ino.toString() };
}

/** Undefined for a missing or inaccessible path. */
export function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

export function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** A regular file that is the same for every process, at every link on its path. */
export function stableFile(path: string): Identity | undefined {
  return differsPerProcess(path, 40) ? undefined : identityOf(path, "file");
}

/** True when neither a file nor a link exists at this path. */
export function isAbsent(path: string): boolean {
  const folder = perProcess.test(path) ? undefined : realOf(dirname(path));
  if (folder === undefined || perProcess.test(`${folder}/`)) return false;
  return linkTarget(path) === undefined && statOf(path) === undefined;
}

function differsPerProcess(path: string, hops: number): boolean {
  if (perProcess.test(path) || hops === 0) return true;
  const folder = realOf(dirname(path));
  if (folder === undefined) return true;
  const here = join(folder, basename(path));
  const target = linkTarget(here);
  return perProcess.test(here) || (target !== undefined && differsPerProcess(resolve(folder, target), hops - 1));
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined; // EINVAL: not a link
  }
}

function executable(path: string): Identity | undefined {
  const identity = perProcess.test(path) ? undefined : identityOf(path, "file");
  if (identity === undefined || perProcess.test(identity.real)) return undefined;
  return isRunnable(path) ? identity : undefined;
}
