// Temp files of whole-file writes: their names contain the process, so that leftovers of a killed process can be
// deleted.
import { lstat, opendir, realpath, unlink } from "node:fs/promises";

import { errnoOf } from "../core/error.ts";
import { newSecret } from "./ids.ts";
import { idOf, type Anchor } from "./rooted-anchor.ts";

const pattern = /^\.openclaw-(\d{1,10})-[0-9a-f]{12}\.tmp$/;
// No write takes this long; a process with the same pid does not own an older file.
const MAX_AGE_MS = 3_600_000;
const MAX_SWEPT = 10_000;

// Per process, not per root: names contain the pid, and roots are opened for each call.
const live = new Set<string>();
const swept = new Set<string>();

export function newTempName(): string {
  const name = `.openclaw-${process.pid}-${newSecret(6)}.tmp`;
  live.add(name);
  return name;
}

/** The temp file was renamed to its target. */
export function forgetTemp(name: string): void {
  live.delete(name);
}

export async function removeTemp(folder: Anchor, name: string): Promise<void> {
  await unlink(folder.at(name)).catch(unlessSystem);
  live.delete(name);
}

/** The first write of a process in a folder deletes leftovers of killed processes there. */
export async function sweepTemps(folder: Anchor, now: number): Promise<void> {
  // A new folder may have the number of a deleted one.
  const id = `${idOf(folder.stats)}:${folder.stats.birthtimeMs}`;
  if (swept.has(id)) return;
  if (swept.size >= MAX_SWEPT) swept.clear();
  swept.add(id);
  try {
    for await (const { name } of await opendir(folder.at("."))) {
      if (await isOrphan(folder, name, now)) await unlink(folder.at(name)).catch(unlessSystem);
    }
  } catch (error) {
    unlessSystem(error);
  }
}

/**
 * Deletes the leftovers of one killed process in a folder. The folder must be unchanged: a link in its place is not
 * followed.
 */
export async function sweepAfter(pid: number, folder: string): Promise<void> {
  try {
    if ((await realpath(folder)) !== folder) return;
    for await (const { name } of await opendir(folder)) {
      const isTheirs = Number(pattern.exec(name)?.[1] ?? Number.NaN) === pid && !live.has(name);
      if (isTheirs) await unlink(`${folder}/${name}`).catch(unlessSystem);
    }
  } catch (error) {
    unlessSystem(error);
  }
}

async function isOrphan(folder: Anchor, name: string, now: number): Promise<boolean> {
  const owner = Number(pattern.exec(name)?.[1] ?? Number.NaN);
  if (Number.isNaN(owner) || live.has(name)) return false;
  if (owner === process.pid || !isRunning(owner)) return true;
  const { mtimeMs } = await lstat(folder.at(name));
  return now - mtimeMs > MAX_AGE_MS;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errnoOf(error) !== "ESRCH";
  }
}

/** Clean-up must not hide an earlier failure; a remaining temp file is deleted later. Other errors are still thrown. */
export function unlessSystem(error: unknown): void {
  if (errnoOf(error) === undefined) throw error;
}
