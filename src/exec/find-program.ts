// Finds the program a name means, as the system would: by its path or in the folders of PATH, a file that may be run.
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../core/error.ts";

/** The first file of this name that may be run; a name with a slash is a path already. */
export function findProgram(name: string, folders: readonly string[]): string | undefined {
  const paths = name.includes("/") ? [name] : folders.map((folder) => join(folder, name));
  return paths.find(isRunnable);
}

export const isRunnable = (path: string): boolean => whyNotRunnable(path) === undefined;

/** The system's code for why this path cannot be run; undefined when it can. */
export function whyNotRunnable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    // A folder of that name is no program: the search goes on as if nothing were there.
    return statSync(path).isFile() ? undefined : "ENOENT";
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined) throw error;
    return code;
  }
}
