// A record beside the store: that a store existed and what the last check found, for the case that the store is lost.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import { writeFileAtomic } from "../base/atomic-file.ts";
import { errnoOf } from "../core/error.ts";

export interface StoreRecord {
  readonly firstSeenAt: number;
  readonly check?: {
    readonly at: number;
    readonly ok: boolean;
    /** The first thing that is wrong. */
    readonly problem?: string;
    readonly records: number;
  };
  /** When a start found no store, or an empty one, where one had been. */
  readonly lostAt?: number;
}

const fileOf = (storeFile: string): string => join(dirname(storeFile), "store-record.json");

/** Undefined when nothing is known. */
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

/** To be asked before the store is opened, which makes one. */
export function lookForStore(storeFile: string): { readonly found: StoreFound; readonly hasLog: boolean } {
  const log = statSync(`${storeFile}-wal`, { throwIfNoEntry: false });
  const hasLog = log !== undefined && log.size > 0;
  if (!existsSync(storeFile)) return { found: "missing", hasLog };
  return { found: statSync(storeFile).size === 0 && !hasLog ? "empty" : "there", hasLog };
}
