// Replaces a store by a verified backup; keeps the old store beside it.
import { constants, copyFileSync, existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";

import { syncFolder } from "../base/atomic-file.ts";
import { systemClock } from "../base/clock.ts";
import { acquireLock, stateLockOf } from "../base/lock.ts";
import { OpenClawError } from "../core/error.ts";
import { copyStore, requireSound } from "./backup.ts";
import { openPlain } from "./connection.ts";
import { toStoreError } from "./failure.ts";
import { companions, giveSecondName, removeStore } from "./store-files.ts";
import { isDamage } from "./row.ts";
import type { StoreReport } from "./verify.ts";
import { readVersion } from "./version.ts";

export interface Restored {
  readonly report: StoreReport;
  /** Path of the old store; undefined when there was none. */
  readonly replaced?: string;
}

export interface RestoreOptions {
  /** The lock of the state folder; by default in the folder of the store. */
  readonly lockFile?: string;
}

/** Rejects a damaged archive before changing anything, and throws `lock.held` while a gateway runs on that folder. */
export async function restoreStore(from: string, to: string, options: RestoreOptions = {}): Promise<Restored> {
  if (!existsSync(from))
    throw new OpenClawError("store.missing", `there is no backup at ${from}`, { details: { file: from } });
  const lock = acquireLock(options.lockFile ?? stateLockOf(dirname(to)));
  const copy = `${to}.restoring`;
  try {
    await requireSound(from);
    removeStore(copy); // left by an interrupted restore
    await copyStore(from, copy);
    const report = await requireSound(copy);
    const replaced = existsSync(to) ? setAside(to) : undefined;
    renameSync(copy, to);
    syncFolder(dirname(to));
    return { report: { ...report, file: to }, ...(replaced === undefined ? {} : { replaced }) };
  } catch (cause) {
    throw toStoreError(to, cause);
  } finally {
    removeStore(copy);
    lock.release();
  }
}

function setAside(file: string): string {
  const replaced = freeName(`${file}.replaced-${toStamp(systemClock.now())}`);
  // SQLite would replay any log it finds beside the new store, so the log must be gone before the switch.
  if (!foldLog(file)) moveLog(file, replaced);
  giveSecondName(file, replaced, () => copyFileSync(file, replaced, constants.COPYFILE_EXCL));
  return replaced;
}

/** False when the store is too damaged to apply its log; checked first, so that the damaged file stays unchanged. */
function foldLog(file: string): boolean {
  try {
    readVersion(file);
    const store = openPlain(file);
    try {
      if (store.value("PRAGMA journal_mode = DELETE") === "delete") return true;
    } finally {
      store.close();
    }
  } catch (error) {
    if (isDamage(error)) return false;
    if (!(error instanceof OpenClawError && error.code === "store.busy")) throw error;
  }
  throw new OpenClawError("store.busy", `${file} cannot be replaced: another process has it open`, {
    hint: "stop the other openclaw process, then retry",
    details: { file },
  });
}

function moveLog(file: string, replaced: string): void {
  for (const [index, companion] of companions(file).entries()) {
    if (existsSync(companion)) renameSync(companion, companions(replaced)[index] ?? "");
  }
}

function freeName(wanted: string): string {
  for (let turn = 1; ; turn++) {
    const name = turn === 1 ? wanted : `${wanted}.${turn}`;
    if (!existsSync(name)) return name;
  }
}

function toStamp(time: number): string {
  return new Date(time)
    .toISOString()
    .replaceAll(/[-:]/g, "")
    .replace(/\.\d+Z$/, "Z");
}
