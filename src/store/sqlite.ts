// The SQLite driver of the store: one connection, write-ahead log, group commit.
import { existsSync } from "node:fs";

import { OpenClawError } from "../core/error.ts";
import { openForReading, openForWriting, type Connection } from "./connection.ts";
import { readOnly } from "./failure.ts";
import { closed, createGroupCommit } from "./group-commit.ts";
import { openLogFlush, type LogFlush } from "./log-flush.ts";
import { migrateStore, type Migrated } from "./migrate.ts";
import { migrations } from "./migrations/list.ts";
import { prepareStoreFile } from "./store-files.ts";
import type { ReportDamage, Sql } from "./sql.ts";
import type { Store } from "./store.ts";
import { createChildren } from "./tables/children.ts";
import { createDedupe } from "./tables/dedupe.ts";
import { createDevices } from "./tables/devices.ts";
import { createInbox } from "./tables/inbox.ts";
import { createJobs } from "./tables/jobs.ts";
import { createJournal } from "./tables/journal.ts";
import { createKv } from "./tables/kv.ts";
import { createRuns } from "./tables/runs.ts";
import { createSessions } from "./tables/sessions.ts";
import { createSlots } from "./tables/slots.ts";
import { createTranscript } from "./tables/transcript.ts";
import { setTornAside, type TornLog } from "./torn-log.ts";
import { newerStore, readVersion } from "./version.ts";

export interface SqliteOptions {
  readonly file: string;
  /** Read-only: every write rejects with `store.read-only`. An older store is rejected, not migrated. */
  readonly readOnly?: boolean;
  /** The caller has the lock: an incomplete log end of a dead process is set aside and reported. */
  readonly onTorn?: (torn: TornLog) => void;
  /** An older store was migrated to the current schema; the old file is kept. */
  readonly onMigrated?: (migrated: Migrated) => void;
  /** Called for each damaged record that a read skipped. */
  readonly onDamage?: ReportDamage;
}

/** Creates or migrates as needed. Does not read the records, so the cost does not grow with history. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { file, onDamage = () => {} } = options;
  if (options.readOnly === true) return createStore(openExisting(file), onDamage);
  prepareStoreFile(file);
  const torn = options.onTorn === undefined ? undefined : setTornAside(file);
  const migrated = migrateStore(file);
  const store = openOwned(file, onDamage);
  if (torn !== undefined) options.onTorn?.(torn);
  if (migrated.kept !== undefined) options.onMigrated?.(migrated);
  return store;
}

function openOwned(file: string, report: ReportDamage): Store {
  const connection = openForWriting(file);
  try {
    return createStore(connection, report, openLogFlush(connection));
  } catch (error) {
    connection.close();
    throw error;
  }
}

function openExisting(file: string): Connection {
  const hint = "start the gateway once: openclaw gateway run";
  if (!existsSync(file))
    throw new OpenClawError("store.missing", `there is no store at ${file}`, { hint, details: { file } });
  const version = readVersion(file);
  if (version > migrations.length) throw newerStore(file, version, migrations.length);
  if (version === migrations.length) return openForReading(file);
  throw new OpenClawError("store.older", `the store ${file} has an older schema (${version})`, {
    hint,
    details: { file, version },
  });
}

/** Without a log to flush the store is only looked at. */
function createStore(connection: Connection, report: ReportDamage, log?: LogFlush): Store {
  const commits = createGroupCommit(connection, async () => log?.flush());
  let closing: Promise<void> | undefined;
  const sql: Sql = {
    async read(steps) {
      // Writes that a power cut could still lose are not shown to anyone.
      while (commits.flushing() !== undefined) await commits.flushing();
      if (closing !== undefined) throw closed(connection.file);
      return connection.run(steps());
    },
    write: (steps, options) =>
      log === undefined ? Promise.reject(readOnly(connection.file)) : commits.write(steps, options),
  };
  const end = async (): Promise<void> => {
    await commits.end();
    connection.close();
    log?.close();
  };
  return {
    sessions: createSessions(sql, report),
    transcript: createTranscript(sql, report),
    inbox: createInbox(sql, report),
    runs: createRuns(sql, report),
    children: createChildren(sql, report),
    devices: createDevices(sql, report),
    dedupe: createDedupe(sql),
    kv: createKv(sql, report),
    journal: createJournal(sql, report),
    jobs: createJobs(sql, report),
    slots: createSlots(sql, report),
    together: (ask) => commits.together(ask),
    async settle() {
      if (closing === undefined) await commits.flush();
    },
    close: () => (closing ??= end()),
  };
}
