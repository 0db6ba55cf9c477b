// The database interface of the tables, so that each table is written once for every driver.

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Statement {
  /** Portable SQL with `?` for values. Few distinct texts, so that a driver can keep them prepared. */
  readonly text: string;
  readonly values: readonly SqlValue[];
  /** The result: the rows, or the number of changed rows. */
  readonly wants: "rows" | "changes";
}

export interface Answer {
  readonly rows: readonly SqlRow[];
  readonly changes: number;
}

/**
 * One read or one change, as a generator of statements: a synchronous driver (SQLite) runs it in one go, an
 * asynchronous one (PostgreSQL) awaits each statement. It may be run again from the start, so its only effects must be
 * its statements.
 */
export type Steps<T> = Generator<Statement, T, Answer>;

export interface WriteOptions {
  /** Survives a power cut once it is acknowledged. */
  readonly durable: boolean;
  /** Shares the commit of the next write that does not wait, or has its own after 100 ms. Keeps its place in the order. */
  readonly joinsNext?: boolean;
}

export interface Sql {
  /** Sees only what is committed. */
  read<T>(steps: () => Steps<T>): Promise<T>;
  /** All statements or none, after every earlier write. Resolves after the commit. */
  write<T>(steps: () => Steps<T>, options: WriteOptions): Promise<T>;
}

/** A record that exists but is not valid; the rest of its table stays readable. */
export interface Damage {
  readonly table: string;
  /** The name of the record for people. */
  readonly record: string;
  readonly reason: string;
}

export type ReportDamage = (damage: Damage) => void;

export function* rows(text: string, values: readonly SqlValue[] = []): Steps<readonly SqlRow[]> {
  return (yield { text, values, wants: "rows" }).rows;
}

export function* firstRow(text: string, values: readonly SqlValue[] = []): Steps<SqlRow | undefined> {
  return (yield { text, values, wants: "rows" }).rows[0];
}

/** Number of changed rows. */
export function* change(text: string, values: readonly SqlValue[] = []): Steps<number> {
  return (yield { text, values, wants: "changes" }).changes;
}

/** A write of one statement. Pass values as text, so that later changes of the caller's object are not stored. */
export function* act(text: string, values: readonly SqlValue[] = []): Steps<void> {
  yield { text, values, wants: "changes" };
}
