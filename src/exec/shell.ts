// Which shell runs a command line on this machine.
import { basename } from "node:path";

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
