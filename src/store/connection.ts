// One SQLite connection: settings, prepared statements, and execution of table operations.
import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync, type StatementSync } from "node:sqlite";

import { errnoOf, OpenClawError } from "../core/error.ts";
import { toStoreError } from "./failure.ts";
import type { Answer, SqlRow, Statement, Steps } from "./sql.ts";

// Another process may hold the write lock for the length of one commit; this is how long we let it.
const BUSY_TIMEOUT_MS = 2000;

export interface Connection {
  readonly file: string;
  /** Runs steps to their end without letting go of the thread. Errors are store errors. */
  run<T>(steps: Steps<T>): T;
  /** BEGIN, COMMIT and their kin: the same few words again and again, kept prepared. */
  control(sql: string): void;
  /** Any SQL without values and without an answer. */
  exec(sql: string): void;
  /** The one value of a pragma or of any one-row, one-column question. */
  value(sql: string): SqlRow[string] | undefined;
  inTransaction(): boolean;
  close(): void;
}

/** For the one that owns the store: write-ahead log, every commit flushed until told otherwise. */
export function openForWriting(file: string): Connection {
  return onFullDisk(
    () => openOwn(file, "NORMAL"),
    // Then the index of the log is kept in memory: no other process can read beside us, but what is stored can be read.
    () => openOwn(file, "EXCLUSIVE"),
  );
}

function openOwn(file: string, locking: "NORMAL" | "EXCLUSIVE"): Connection {
  const connection = connect(file, () => new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }));
  return settingUp(connection, () => {
    connection.exec(`PRAGMA locking_mode = ${locking}`);
    connection.exec("PRAGMA journal_mode = WAL");
    connection.exec("PRAGMA synchronous = FULL");
    // A log that a long reader let grow is cut back once it has been folded in.
    connection.exec("PRAGMA journal_size_limit = 67108864");
    connection.exec("PRAGMA temp_store = MEMORY");
  });
}

/** For looking: never writes to the store, works beside the owner and in a folder that may not be written. */
export function openForReading(file: string): Connection {
  // A log cannot be made beside it there, and without one nobody can be writing.
  if (!existsSync(`${file}-wal`) && !isWritable(dirname(file))) return openStill(file);
  return connect(file, () => new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS }));
}

/** For one glance: when no log stands beside it nobody has it open, and it is read without leaving a trace. */
export function openForGlance(file: string): Connection {
  return existsSync(`${file}-wal`) ? openForReading(file) : openStill(file);
}

/** The index of the log is a file of its own, for which a full disk has no room. */
export function onFullDisk<T>(act: () => T, otherwise: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof OpenClawError && error.code === "store.full") return otherwise();
    throw error;
  }
}

/** As it lies, without its log: nothing is written for it, not even an index. */
export function openStill(file: string): Connection {
  return connect(file, () => new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true }));
}

/** Plain, with the settings the file has: for copies that nobody else knows of. */
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
    if (wants === "rows") return { rows: statement.all(...values) as SqlRow[], changes: 0 };
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

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
