// Which file exactly a name or path means now: programs, scripts and folders by device and inode, through every link.
import { readlinkSync, realpathSync, statSync, type BigIntStats } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

import { errnoOf } from "../../core/error.ts";
import { isRunnable } from "../find-program.ts";
import type { Identity } from "./plan.ts";

interface Ground {
  readonly cwd: string;
  readonly path: readonly string[];
}

/** What lies there is made on the spot: /dev/stdin is another file for every process. */
const conjured = /^\/(?:proc|dev|sys)\//;

/** Undefined when there is none. Relative folders on PATH are passed over: what they mean changes with the folder. */
export function identifyProgram(name: string, ground: Ground): Identity | undefined {
  if (name === "") return undefined;
  if (name.includes("/")) return executable(resolve(ground.cwd, name));
  for (const folder of ground.path) {
    if (!isAbsolute(folder)) continue;
    const found = executable(join(folder, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Folders only the administrator writes to. */
export const trustedFolders: readonly string[] = [
  "/bin",
  "/usr/bin",
  "/sbin",
  "/usr/sbin",
  "/run/current-system/sw/bin",
];

/** Found in such a folder, and the file itself lies in one too. */
export function inTrustedFolder(
  { path, real }: { readonly path: string; readonly real: string },
  folders = trustedFolders,
): boolean {
  return (
    folders.includes(dirname(path)) &&
    (folders.includes(dirname(real)) || real.startsWith("/usr/lib/") || real.startsWith("/nix/store/"))
  );
}

/** Which file or folder this is right now, without its content; undefined when it is not there. */
export function identityOf(path: string, kind: "file" | "folder"): Identity | undefined {
  const stats = statOf(path);
  if (stats === undefined || !(kind === "file" ? stats.isFile() : stats.isDirectory())) return undefined;
  const real = realOf(path);
  return real === undefined ? undefined : { path, real, device: stats.dev.toString(), inode: stats.ino.toString() };
}

/** Undefined for what is not there or may not be looked at. */
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

/** A regular file that is the same for whoever opens it, on its whole way through links. */
export function steadyFile(path: string): Identity | undefined {
  return leadsAstray(path, 40) ? undefined : identityOf(path, "file");
}

/** No file, no link, nothing: whoever opens it is told so. */
export function nothingThere(path: string): boolean {
  const folder = conjured.test(path) ? undefined : realOf(dirname(path));
  if (folder === undefined || conjured.test(`${folder}/`)) return false;
  return linkTarget(path) === undefined && statOf(path) === undefined;
}

function leadsAstray(path: string, hops: number): boolean {
  if (conjured.test(path) || hops === 0) return true;
  const folder = realOf(dirname(path));
  if (folder === undefined) return true;
  const here = join(folder, basename(path));
  const target = linkTarget(here);
  return conjured.test(here) || (target !== undefined && leadsAstray(resolve(folder, target), hops - 1));
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
  const identity = conjured.test(path) ? undefined : identityOf(path, "file");
  if (identity === undefined || conjured.test(identity.real)) return undefined;
  return isRunnable(path) ? identity : undefined;
}
