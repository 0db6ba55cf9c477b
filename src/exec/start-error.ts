// Explains why a command could not start; checked only after a failure, so that a successful start costs no disk
// access.
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { descriptorLimit } from "../base/descriptors.ts";
import { visible } from "../core/visible.ts";
import type { HostLaunch } from "./sandbox.ts";

/** The system reports ENOENT for a missing program, a missing interpreter and a missing folder. */
export async function startError(launch: HostLaunch, cause: unknown): Promise<OpenClawError> {
  const program = visible(launch.argv[0] ?? "");
  const folder = visible(launch.cwd);
  const code = errnoOf(cause);
  if (!(await isFolder(launch.cwd))) {
    return new OpenClawError("exec.bad-folder", `the working directory ${folder} cannot be entered`, {
      hint: "set workdir to an existing folder",
      cause,
    });
  }
  if (code === "ENOENT") {
    const isThere = program.includes("/") && (await exists(launch.argv[0] ?? ""));
    return new OpenClawError(
      "exec.not-found",
      isThere ? `the interpreter named in ${program} does not exist` : `program not found: ${program}`,
      { hint: "install it, or add its folder to tools.exec.pathPrepend", cause },
    );
  }
  if (code === "EACCES" || code === "ENOEXEC" || code === "EISDIR") {
    return new OpenClawError("exec.not-executable", `${program} is not executable (${code})`, {
      hint: `chmod +x ${program}`,
      cause,
    });
  }
  const limit = descriptorLimit(cause);
  if (limit !== undefined)
    return new OpenClawError("exec.no-descriptors", `${program} could not be started: ${limit.message}`, {
      hint: limit.hint,
      cause,
    });
  const why = code === "E2BIG" ? "the arguments and variables are too long for this system" : (code ?? String(cause));
  return new OpenClawError("exec.start-failed", `${program} could not be started: ${why}`, {
    hint:
      code === "E2BIG" ? "pass long input in a file" : "try again; the limits of this system are shown by: ulimit -a",
    cause,
  });
}

/** True for a folder that can be entered. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isDirectory()) return false;
    await access(path, constants.X_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
