// The database interface of the tables, so that each table is written once for every driver.

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Statement {
  /** Portable SQL with `?` for values. Few distinct texts, so that a driver can keep them prepared. */
  readonly text: string;
  readonly values: readonly SqlValue[];
  /** What is asked back: the rows, or how many were changed. */
  readonly wants: "rows" | "changes";
}

export interface Answer {
  readonly rows: readonly SqlRow[];
  readonly changes: number;
}

/**
 * One reading or one change, as a generator of statements: a driver that answers at once (SQLite) runs it without
 * letting go of the thread, one that has to wait (PostgreSQL) runs it with awaits. May be run again from the start,
 * so it must have no effect but its statements.
 */
export type Steps<T> = Generator<Statement, T, Answer>;

export interface Sql {
  /** Sees only what is committed. */
  read<T>(steps: () => Steps<T>): Promise<T>;
  /** All statements or none, after every write asked for before. Resolves after the commit. */
  write<T>(steps: () => Steps<T>, options: { readonly durable: boolean }): Promise<T>;
}

/** A record that is there but cannot be trusted; the rest of its table stays readable. */
export interface Damage {
  readonly table: string;
  /** The name a person knows it by. */
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

/** How many rows were changed. */
export function* change(text: string, values: readonly SqlValue[] = []): Steps<number> {
  return (yield { text, values, wants: "changes" }).changes;
}

/** A write of one statement. Ask with values that are already text, so that what the caller changes later is not stored. */
export function* act(text: string, values: readonly SqlValue[] = []): Steps<void> {
  yield { text, values, wants: "changes" };
}
