// Questions about a folder that may be absent or not ours.
import { accessSync, constants, readdirSync } from "node:fs";

import { errnoOf } from "../core/error.ts";

/** The names in a folder; an absent folder has none. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

export function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
