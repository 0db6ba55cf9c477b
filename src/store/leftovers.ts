// Finds files beside a store that are safe to delete, and reports whether disk space is left.
import { readdirSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { errnoOf } from "../core/error.ts";

/** Less than this counts as full: one step of a turn needs tens of kilobytes, and so does the log of the store. */
const LITTLE_BYTES = 512_000;
const MAX_NAMED = 5;

/** Undefined while there is enough space, or when the amount is unknown. */
export function spaceProblem(storeFile: string): { readonly message: string; readonly hint: string } | undefined {
  try {
    const { bavail, bsize } = statfsSync(dirname(storeFile));
    if (bavail * bsize >= LITTLE_BYTES) return undefined;
    const message = `only ${Math.floor((bavail * bsize) / 1000)} KB are left on the disk of ${dirname(storeFile)}`;
    return { message, hint: whatToDelete(storeFile) };
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Copies kept by migrations, restores and salvages, incomplete log ends, and log files. */
export function whatToDelete(storeFile: string): string {
  const found = [...leftoversOf(storeFile), ...logsOf(join(dirname(storeFile), "logs"))]
    .toSorted((one, two) => two.bytes - one.bytes)
    .slice(0, MAX_NAMED)
    .map(({ path, bytes }) => `${path} (${size(bytes)})`);
  const free = `free at least ${size(LITTLE_BYTES * 4)} on that disk`;
  return found.length === 0 ? `${free}, then retry` : `${free}; safe to delete: ${found.join(", ")}`;
}

interface Leftover {
  readonly path: string;
  readonly bytes: number;
}

function leftoversOf(storeFile: string): Leftover[] {
  const start = `${basename(storeFile)}.`;
  return filesIn(dirname(storeFile)).filter(({ path }) => {
    const end = basename(path).startsWith(start) ? basename(path).slice(start.length) : "";
    return /^(?:before-v\d+|replaced-|torn-|salvaged|migrating|restoring)/.test(end);
  });
}

/** All but the newest one, which is in use. */
function logsOf(folder: string): Leftover[] {
  const byName = filesIn(folder).toSorted((one, two) => (one.path < two.path ? -1 : 1));
  return byName.slice(0, -1);
}

function filesIn(folder: string): Leftover[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => ({ path: join(folder, name), bytes: statSync(join(folder, name)).size }));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}

function size(bytes: number): string {
  return bytes >= 1_000_000 ? `${Math.ceil(bytes / 1_000_000)} MB` : `${Math.ceil(bytes / 1000)} KB`;
}
