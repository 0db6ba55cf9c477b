// One SQLite connection: settings, prepared statements, and execution of table operations.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync, type StatementSync } from "node:sqlite";

import { OpenClawError } from "../core/error.ts";
import { canWrite } from "../base/folders.ts";
import { toReadError, toStoreError } from "./failure.ts";
import type { Answer, SqlRow, Statement, Steps } from "./sql.ts";

// How long to wait for another process that has the write lock; it keeps it for one commit.
const BUSY_TIMEOUT_MS = 2000;

export interface Connection {
  readonly file: string;
  /** Runs all steps synchronously. Throws store errors. */
  run<T>(steps: Steps<T>): T;
  /** BEGIN, COMMIT and similar statements, kept prepared. */
  control(sql: string): void;
  /** Any SQL without parameters and without a result. */
  exec(sql: string): void;
  /** The single value of a pragma or of a query with one row and one column. */
  value(sql: string): SqlRow[string] | undefined;
  inTransaction(): boolean;
  close(): void;
}

/** For the owner of the store. A commit is written to the log but not flushed; a checkpoint flushes. */
export function openForWriting(file: string): Connection {
  return onFullDisk(
    () => openOwn(file, "NORMAL"),
    // The index of the log is then kept in memory: other processes cannot read, but stored data can be read here.
    () => openOwn(file, "EXCLUSIVE"),
  );
}

function openOwn(file: string, locking: "NORMAL" | "EXCLUSIVE"): Connection {
  const connection = connect(file, () => new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }));
  return settingUp(connection, () => {
    connection.exec(`PRAGMA locking_mode = ${locking}`);
    connection.exec("PRAGMA journal_mode = WAL");
    connection.exec("PRAGMA synchronous = NORMAL");
    // A checkpoint blocks the event loop while the disk flushes: every 16 MB, not every 4.
    connection.exec("PRAGMA wal_autocheckpoint = 4000");
    // Truncates a log that grew during a long read, after its checkpoint.
    connection.exec("PRAGMA journal_size_limit = 67108864");
    connection.exec("PRAGMA temp_store = MEMORY");
  });
}

/** Read-only: never writes to the store, works beside the owner and in a read-only folder. */
export function openForReading(file: string): Connection {
  // A log cannot be created there, and without a log no process is writing.
  if (!existsSync(`${file}-wal`) && !canWrite(dirname(file))) return openStill(file);
  return connect(file, () => new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS }));
}

/** For one quick read: without a log no process has it open, and it is read without creating files. */
export function openForOneRead(file: string): Connection {
  return existsSync(`${file}-wal`) ? openForReading(file) : openStill(file);
}

/** The index of the log is a separate file, which a full disk cannot create. */
export function onFullDisk<T>(act: () => T, otherwise: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof OpenClawError && error.code === "store.full") return otherwise();
    throw error;
  }
}

/** Reads the file without its log and creates no file for it. */
export function openStill(file: string): Connection {
  return connect(file, () => new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true }));
}

/** With the settings of the file, for private copies. */
export function openPlain(file: string): Connection {
  return connect(file, () => new DatabaseSync(file, { timeout: 0 }));
}

function connect(file: string, open: () => DatabaseSync): Connection {
  const database = guarded(file, open);
  const prepared = new Map<string, StatementSync>();
  const statementOf = (text: string): StatementSync => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    const fresh = database.prepare(text);
    prepared.set(text, fresh);
    return fresh;
  };
  const answer = ({ text, values, wants }: Statement): Answer => {
    const statement = statementOf(text);
    if (wants === "rows") return { rows: readAll(file, statement, values), changes: 0 };
    return { rows: [], changes: Number(statement.run(...values).changes) };
  };
  return {
    file,
    run: (steps) => runSteps(steps, (statement) => guarded(file, () => answer(statement))),
    control: (sql) => guarded(file, () => void statementOf(sql).run()),
    exec: (sql) => guarded(file, () => database.exec(sql)),
    value: (sql) => guarded(file, () => Object.values(database.prepare(sql).get() ?? {})[0] as SqlRow[string]),
    inTransaction: () => database.isTransaction,
    close: () => guarded(file, () => database.close()),
  };
}

function readAll(file: string, statement: StatementSync, values: Statement["values"]): SqlRow[] {
  try {
    return statement.all(...values) as SqlRow[];
  } catch (cause) {
    throw toReadError(file, cause);
  }
}

function runSteps<T>(steps: Steps<T>, answer: (statement: Statement) => Answer): T {
  let turn = steps.next();
  while (turn.done !== true) {
    let given: Answer;
    try {
      given = answer(turn.value);
    } catch (error) {
      turn = steps.throw(error);
      continue;
    }
    turn = steps.next(given);
  }
  return turn.value;
}

function guarded<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw toStoreError(file, cause);
  }
}

function settingUp(connection: Connection, setUp: () => void): Connection {
  try {
    setUp();
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
