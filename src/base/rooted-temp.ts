// Temp files of whole-file writes: their names say whose they are, so that what a killed process left can be taken away.
import { lstat, opendir, realpath, unlink } from "node:fs/promises";

import { errnoOf } from "../core/error.ts";
import { newSecret } from "./ids.ts";
import { idOf, type Anchor } from "./rooted-anchor.ts";

const pattern = /^\.openclaw-(\d{1,10})-[0-9a-f]{12}\.tmp$/;
// No write takes this long; a process that has the same number by now does not own the file.
const MAX_AGE_MS = 3_600_000;
const MAX_SWEPT = 10_000;

// Of the process, not of a root: names carry the process number, and roots come and go with each call.
const live = new Set<string>();
const swept = new Set<string>();

export function newTempName(): string {
  const name = `.openclaw-${process.pid}-${newSecret(6)}.tmp`;
  live.add(name);
  return name;
}

/** The temp file became the real one. */
export function forgetTemp(name: string): void {
  live.delete(name);
}

export async function removeTemp(folder: Anchor, name: string): Promise<void> {
  await unlink(folder.at(name)).catch(unlessSystem);
  live.delete(name);
}

/** The first write of a process in a folder takes away what killed processes left there. */
export async function sweepTemps(folder: Anchor, now: number): Promise<void> {
  const id = idOf(folder.stats);
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

/** Takes away what one killed process left in a folder. The folder must be where it was: a link there is not followed. */
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

/** Cleaning up must not hide the failure before it; a temp file that stays is swept later. Bugs still surface. */
export function unlessSystem(error: unknown): void {
  if (errnoOf(error) === undefined) throw error;
}
