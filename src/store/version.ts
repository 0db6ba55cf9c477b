// Reads the schema version of a store on disk without changing it.
import { existsSync, statSync } from "node:fs";

import { OpenClawError } from "../core/error.ts";
import { onFullDisk, openForOneRead, openStill, type Connection } from "./connection.ts";
import { toSchemaError } from "./failure.ts";

/** "OCst": marks an SQLite file as a store of this program. */
export const APPLICATION_ID = 0x4f437374;

export function readVersion(file: string): number {
  if (!existsSync(file) || (statSync(file).size === 0 && !existsSync(`${file}-wal`))) return 0;
  return onFullDisk(
    () => versionIn(openForOneRead(file)),
    // The log never changes the version: a new schema is checkpointed immediately, and a migrated store starts without
    // a log.
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

/** 0 for an empty file; throws `store.foreign` for an SQLite file of another program. */
export function versionOf(connection: Connection): number {
  if (countSchema(connection) === 0) return 0;
  if (connection.value("PRAGMA application_id") === APPLICATION_ID)
    return Number(connection.value("PRAGMA user_version"));
  throw new OpenClawError("store.foreign", `${connection.file} is not a store of this program`, {
    hint: "move that file away, or point OPENCLAW_STATE_DIR at another folder",
    details: { file: connection.file },
  });
}

function countSchema(connection: Connection): number {
  try {
    return Number(connection.value("SELECT count(*) FROM sqlite_schema"));
  } catch (cause) {
    throw toSchemaError(connection.file, cause);
  }
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
