// Finds an executable as the system would: by path, or in the folders of PATH.
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../core/error.ts";

/** The first executable file of this name; a name with a slash is used as a path. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  const paths = name.includes("/") ? [name] : folders.map((folder) => join(folder, name));
  return paths.find(isRunnable);
}

export const isRunnable = (path: string): boolean => whyNotRunnable(path) === undefined;

/** The system's error code for a path that cannot be run; undefined when it can. */
export function whyNotRunnable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    // A folder of that name is skipped, as if it did not exist.
    return statSync(path).isFile() ? undefined : "ENOENT";
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return code;
  }
}
