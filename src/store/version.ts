// Reads the schema version of a store on disk without changing it.
import { existsSync, statSync } from "node:fs";

import { OpenClawError } from "../core/error.ts";
import { onFullDisk, openForGlance, openStill, type Connection } from "./connection.ts";

/** "OCst": says that an SQLite file is a store of ours. */
export const APPLICATION_ID = 0x4f437374;

export function readVersion(file: string): number {
  if (!existsSync(file) || (statSync(file).size === 0 && !existsSync(`${file}-wal`))) return 0;
  return onFullDisk(
    () => versionIn(openForGlance(file)),
    // The log never changes the version: a new shape is folded in at once, and a migrated store begins without a log.
    () => versionIn(openStill(file)),
  );
}

function versionIn(connection: Connection): number {
  try {
    return versionOf(connection);
  } finally {
    connection.close();
  }
}

/** 0 for an empty file; throws `store.foreign` for an SQLite file that is not ours. */
export function versionOf(connection: Connection): number {
  if (connection.value("SELECT count(*) FROM sqlite_schema") === 0) return 0;
  if (connection.value("PRAGMA application_id") === APPLICATION_ID)
    return Number(connection.value("PRAGMA user_version"));
  throw new OpenClawError("store.foreign", `${connection.file} is not a store of this program`, {
    hint: "move that file away, or point OPENCLAW_STATE_DIR at another folder",
    details: { file: connection.file },
  });
}

export function newerStore(file: string, version: number, known: number): OpenClawError {
  return new OpenClawError(
    "store.newer",
    `the store ${file} was written by a newer version (${version}; this one knows ${known})`,
    {
      hint: "npm install -g openclaw@latest, or restore a backup with: openclaw store restore",
      details: { file, version, known },
    },
  );
}
