// Chooses the shell for command lines on this machine.
import { basename } from "node:path";

import type { Env } from "../base/paths.ts";

/** Shells of accounts without login. */
const refusing = new Set(["nologin", "false", "true", "sync", "git-shell"]);

/**
 * Uses `SHELL` unless it is fish, because command lines are written for POSIX shells; then bash, then sh, and fish
 * only as a last resort. `find` returns the absolute path of an executable.
 */
export function chooseShell(env: Env, find: (program: string) => string | undefined): string {
  const own = env["SHELL"]?.trim();
  const found = own === undefined || own === "" || refusing.has(basename(own)) ? undefined : find(own);
  if (found === undefined) return find("sh") ?? "/bin/sh";
  if (basename(found) !== "fish") return found;
  return find("bash") ?? find("sh") ?? found;
}
