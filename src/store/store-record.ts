// A record beside the store: that a store existed, and the result of its last check, in case the store is lost.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { errnoOf } from "../core/error.ts";

export interface StoreRecord {
  readonly firstSeenAt: number;
  readonly check?: {
    readonly at: number;
    readonly ok: boolean;
    /** The first problem found. */
    readonly problem?: string;
    readonly records: number;
  };
  /** When a start found a missing or empty store although one had existed. */
  readonly lostAt?: number;
}

const fileOf = (storeFile: string): string => join(dirname(storeFile), "store-record.json");

/** Undefined when there is no record. */
export function readStoreRecord(storeFile: string): StoreRecord | undefined {
  try {
    const found = JSON.parse(readFileSync(fileOf(storeFile), "utf8")) as Partial<StoreRecord> | null;
    return typeof found?.firstSeenAt === "number" ? (found as StoreRecord) : undefined;
  } catch (error) {
    if (errnoOf(error) !== undefined || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function writeStoreRecord(storeFile: string, record: StoreRecord): void {
  writeFileAtomic(fileOf(storeFile), `${JSON.stringify(record)}\n`);
}

export type StoreFound = "there" | "missing" | "empty";

/** Call it before the store is opened, because opening creates one. */
export function lookForStore(storeFile: string): { readonly found: StoreFound; readonly hasLog: boolean } {
  const log = statSync(`${storeFile}-wal`, { throwIfNoEntry: false });
  const hasLog = log !== undefined && log.size > 0;
  if (!existsSync(storeFile)) return { found: "missing", hasLog };
  return { found: statSync(storeFile).size === 0 && !hasLog ? "empty" : "there", hasLog };
}
