// Copies a store while a gateway may be writing to it; the copy is renamed to its final name only after it was
// verified.
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";

import { syncFolder } from "../base/atomic-file.ts";
import { newSecret } from "../base/ids.ts";
import { OpenClawError } from "../core/error.ts";
import { openPlain } from "./connection.ts";
import { toStoreError } from "./failure.ts";
import { migrations } from "./migrations/list.ts";
import { createPrivateFile, flushFile, removeStore, requireFile, requireRoom } from "./store-files.ts";
import { newerStore, readVersion } from "./version.ts";
import { verifyStore, type StoreReport } from "./verify.ts";

// All pages in one step: with several steps, each commit of the gateway would restart the copy.
const EVERY_PAGE = 2 ** 31 - 1;

/** One private file, readable anywhere. Never overwrites. Rejects a store that fails verification, with its report. */
export async function backupStore(file: string, to: string): Promise<StoreReport> {
  requireFile(file);
  if (existsSync(to))
    throw new OpenClawError("store.exists", `${to} already exists`, {
      hint: "choose another name",
      details: { file: to },
    });
  const copy = `${to}.${newSecret(4)}.part`;
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    await copyStore(file, copy);
    const report = await requireSound(copy);
    renameSync(copy, to);
    syncFolder(dirname(to));
    return { ...report, file: to };
  } catch (cause) {
    throw toStoreError(to, cause);
  } finally {
    removeStore(copy);
  }
}

/** A consistent, flushed copy without a log beside it. */
export async function copyStore(file: string, to: string): Promise<void> {
  requireRoom(file, dirname(to), 1);
  createPrivateFile(to);
  const source = new DatabaseSync(file, { readOnly: true, timeout: 2000 });
  try {
    await backup(source, to, { rate: EVERY_PAGE });
  } finally {
    source.close();
  }
  const copy = openPlain(to);
  try {
    copy.exec("PRAGMA journal_mode = DELETE");
  } finally {
    copy.close();
  }
  flushFile(to);
}

/** Throws `store.damaged` with the first failing check. */
export async function requireSound(file: string): Promise<StoreReport> {
  const report = await verifyStore(file);
  const failed = report.checks.find((check) => !check.ok);
  if (failed === undefined) return report;
  if (failed.name === "shape") throw newerStore(file, readVersion(file), migrations.length);
  throw new OpenClawError("store.damaged", `${file} failed verification: ${failed.name}: ${failed.detail}`, {
    hint: "save what is readable with: openclaw store salvage",
    details: { checks: report.checks },
  });
}
