// Migrates a store to the current schema: creates a new one, or replaces an older one by a verified copy.
import { existsSync, renameSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";

import { syncFolder } from "../base/atomic-file.ts";
import { OpenClawError } from "../core/error.ts";
import { openForWriting, openPlain, type Connection } from "./connection.ts";
import { toStoreError } from "./failure.ts";
import { migrations as released } from "./migrations/list.ts";
import type { Migration } from "./migrations/migration.ts";
import { createPrivateFile, flushFile, giveSecondName, removeStore, requireRoom } from "./store-files.ts";
import { APPLICATION_ID, newerStore, readVersion, versionOf } from "./version.ts";

/** Steps at which a migration can be interrupted; after each of them the old store still opens. */
export type MigrationStep = "roomy" | "locked" | "copied" | "migrated" | "verified" | "kept" | "switched";

export interface MigrateOptions {
  readonly migrations?: readonly Migration[];
  readonly onStep?: (step: MigrationStep) => void;
}

export interface Migrated {
  readonly from: number;
  readonly to: number;
  /** Where the old store is kept; undefined when there was no migration or no old store. */
  readonly kept?: string;
}

/** Rejects a newer store without changing it. The caller must be the only one that has the store open. */
export function migrateStore(file: string, options: MigrateOptions = {}): Migrated {
  const { migrations = released, onStep = () => {} } = options;
  const [from, to] = [readVersion(file), migrations.length];
  if (from > to) throw newerStore(file, from, to);
  if (from === to) return { from, to };
  try {
    if (from === 0) return createShape(file, migrations);
    return { from, to, kept: switchToMigratedCopy(file, from, migrations, onStep) };
  } catch (cause) {
    throw toStoreError(file, cause);
  }
}

/** One transaction: a crash leaves an empty file or a complete store. */
function createShape(file: string, migrations: readonly Migration[]): Migrated {
  const connection = openForWriting(file);
  try {
    connection.exec("BEGIN IMMEDIATE");
    // Another process may have created it between the check and the lock.
    if (versionOf(connection) === 0) applyAll(connection, [{ up: tablesFirst(migrations) }], migrations.length);
    connection.exec("COMMIT");
    // The version must be in the main file, where other processes read it without the log.
    connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return { from: 0, to: migrations.length };
  } finally {
    connection.close();
  }
}

function applyAll(connection: Connection, steps: readonly Pick<Migration, "up">[], version: number): void {
  for (const { up } of steps) connection.exec(up);
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  connection.exec(`PRAGMA user_version = ${version}`);
}

/**
 * The order that VACUUM creates: all stores of one schema version then have their roots on the same pages, which
 * salvage relies on.
 */
function tablesFirst(migrations: readonly Migration[]): string {
  const statements = migrations.flatMap(({ up }) => up.split(/;\s*$/m).filter((statement) => statement.trim() !== ""));
  const isIndex = (statement: string): boolean => /^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\b/i.test(statement);
  const ordered = [...statements.filter((one) => !isIndex(one)), ...statements.filter((one) => isIndex(one))];
  return ordered.map((statement) => `${statement};`).join("\n");
}

function switchToMigratedCopy(
  file: string,
  from: number,
  migrations: readonly Migration[],
  onStep: (step: MigrationStep) => void,
): string {
  const copy = `${file}.migrating`;
  // One copy, and as much again for tables that the migration rewrites.
  requireRoom(file, dirname(file), 2);
  onStep("roomy");
  const old = openAlone(file);
  try {
    onStep("locked");
    removeStore(copy); // left by an interrupted migration
    createPrivateFile(copy);
    old.exec(`VACUUM INTO ${quoted(copy)}`);
    onStep("copied");
    const due = migrations.slice(from);
    migrateCopy(copy, due);
    onStep("migrated");
    verifyCopy(old, copy, due);
    flushFile(copy);
    onStep("verified");
    const kept = keepOld(old, migrations.length);
    onStep("kept");
    renameSync(copy, file);
    syncFolder(dirname(file));
    onStep("switched");
    return kept;
  } finally {
    old.close();
  }
}

/** Leaves WAL mode, which fails while another process has the store open, and locks the store until closed. */
function openAlone(file: string): Connection {
  const connection = openPlain(file);
  try {
    const mode = connection.value("PRAGMA journal_mode = DELETE");
    if (mode !== "delete") throw inUse(file);
    connection.exec("PRAGMA locking_mode = EXCLUSIVE");
    connection.exec("BEGIN EXCLUSIVE");
    connection.exec("COMMIT");
    return connection;
  } catch (error) {
    connection.close();
    throw error instanceof OpenClawError && error.code === "store.busy" ? inUse(file) : error;
  }
}

function migrateCopy(copy: string, due: readonly Migration[]): void {
  const connection = openPlain(copy);
  try {
    // A crash discards the copy, so it needs neither a journal on disk nor flushes in between.
    connection.exec("PRAGMA journal_mode = MEMORY");
    connection.exec("PRAGMA synchronous = OFF");
    connection.exec("BEGIN IMMEDIATE");
    applyAll(connection, due, due.at(-1)?.version ?? 0);
    connection.exec("COMMIT");
    connection.exec("VACUUM");
  } finally {
    connection.close();
  }
}

function verifyCopy(old: Connection, copy: string, due: readonly Migration[]): void {
  const recounted = new Set(due.flatMap((migration) => migration.recounts ?? []));
  const migrated = openPlain(copy);
  try {
    const problem =
      firstProblem(migrated) ??
      tablesOf(old).find((table) => !recounted.has(table) && countOf(old, table) !== countOf(migrated, table));
    if (problem === undefined) return;
    throw new OpenClawError(
      "store.migration-failed",
      `the migrated copy of ${old.file} failed verification: ${problem}; the store is unchanged`,
      {
        hint: "report this with the output of: openclaw doctor",
        details: { file: old.file, problem },
      },
    );
  } finally {
    migrated.close();
  }
}

function firstProblem(connection: Connection): string | undefined {
  const integrity = connection.value("PRAGMA integrity_check(1)");
  if (integrity !== "ok") return String(integrity);
  const orphan = connection.value("PRAGMA foreign_key_check");
  return orphan === undefined ? undefined : `a row of ${orphan} references a missing row`;
}

function tablesOf(connection: Connection): string[] {
  const names = connection.value(
    "SELECT json_group_array(name) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  return JSON.parse(String(names)) as string[];
}

/** Undefined when the table is gone. */
function countOf(connection: Connection, table: string): unknown {
  if (!tablesOf(connection).includes(table)) return undefined;
  return connection.value(`SELECT count(*) FROM "${table}"`);
}

/** A hard link to the old file, so that the switch is one rename and a store exists at every moment. */
function keepOld(old: Connection, nextVersion: number): string {
  const { file } = old;
  const kept = freeName(`${file}.before-v${nextVersion}`, file);
  giveSecondName(file, kept, () => {
    createPrivateFile(kept);
    old.exec(`VACUUM INTO ${quoted(kept)}`);
  });
  return kept;
}

/** The file kept by an interrupted migration is the same file that is migrated again, so its name can be reused. */
function freeName(wanted: string, file: string): string {
  for (let turn = 1; ; turn++) {
    const name = turn === 1 ? wanted : `${wanted}.${turn}`;
    if (!existsSync(name)) return name;
    if (statSync(name).ino !== statSync(file).ino) continue;
    unlinkSync(name);
    return name;
  }
}

function inUse(file: string): OpenClawError {
  return new OpenClawError("store.busy", `the store ${file} must be migrated, but another process has it open`, {
    hint: "stop the other openclaw process, then retry",
    details: { file },
  });
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "''")}'`;
}
