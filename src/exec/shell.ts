// Which shell runs a command line on this machine.
import { accessSync, constants, statSync } from "node:fs";
import { basename, join } from "node:path";

import { errnoOf } from "../core/error.ts";
import type { Env } from "../base/paths.ts";

/** Shells of accounts that nobody is meant to log in to. */
const refusing = new Set(["nologin", "false", "true", "sync", "git-shell"]);

/**
 * `SHELL`, but not fish: command lines are written for POSIX shells, so then bash, sh, and fish only if there is nothing else.
 * `find` gives the absolute path of a program name (or of a path, if it may be run).
 */
export function chooseShell(env: Env, find: (program: string) => string | undefined): string {
  const own = env["SHELL"]?.trim();
  const found = own === undefined || own === "" || refusing.has(basename(own)) ? undefined : find(own);
  if (found === undefined) return find("sh") ?? "/bin/sh";
  if (basename(found) !== "fish") return found;
  return find("bash") ?? find("sh") ?? found;
}

/** The first file of this name that may be run; a name with a slash is a path already. */
export function findProgram(program: string, folders: readonly string[]): string | undefined {
  if (program.includes("/")) return isRunnable(program) ? program : undefined;
  return folders.map((folder) => join(folder, program)).find(isRunnable);
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
