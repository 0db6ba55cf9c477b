// Reads every row of a table that is still readable, skips damaged pages, and names the missing rows.
import type { Connection } from "./connection.ts";
import { isDamage, number } from "./row.ts";
import { rows, type Damage, type SqlRow, type SqlValue } from "./sql.ts";
import type { Shape } from "./shapes.ts";
import { sealOf } from "./seal.ts";

const PAGE_ROWS = 500;
const UNREADABLE = "its page in the file is damaged";
// Below every valid row number.
const START = Number.MIN_SAFE_INTEGER;
// A damaged row number can be any number. Salvage also reads the pages themselves, so this limit loses no record there.
const MAX_PROBES = 200_000;

/** A damaged record has the part of its row that is still readable: all of it, the key columns, or nothing. */
export type Found =
  | { readonly row: SqlRow; readonly damage?: undefined; readonly isWhole: true }
  | { readonly row: SqlRow; readonly damage: Damage; readonly isWhole: boolean };

/** Each record once, in the order of `n`. Returns whether the whole table could be read. */
export function* readTable(connection: Connection, shape: Shape): Generator<Found, boolean> {
  let last = START;
  for (;;) {
    const page = tryRead(connection, `SELECT * FROM ${shape.table} WHERE n > ? ORDER BY n LIMIT ${PAGE_ROWS}`, [last]);
    if (page === undefined || !isAscending(page, last)) {
      yield* readCarefully(connection, shape, last);
      return false;
    }
    for (const row of page) yield toFound(shape, row);
    if (page.length < PAGE_ROWS) return true;
    last = number(page.at(-1) ?? {}, "n");
  }
}

/** A damaged tree can return rows in any order, and the same rows without end. */
function isAscending(page: readonly SqlRow[], after: number): boolean {
  let last = after;
  return page.every((row) => {
    const isNext = number(row, "n") > last;
    last = number(row, "n");
    return isNext;
  });
}

/** Row by row: those in the key index, and every possible number when that index is damaged as well. */
function* readCarefully(connection: Connection, shape: Shape, after: number): Generator<Found> {
  const { names, isWhole } = readNames(connection, shape);
  const known = [...names.keys()].filter((n) => n > after);
  const candidates = isWhole ? known : everyNumber(connection, shape, after, known);
  for (const n of candidates.toSorted((a, b) => a - b)) {
    const found = tryRead(connection, `SELECT * FROM ${shape.table} WHERE n = ?`, [n]);
    const row = found?.[0];
    const key = names.get(n);
    if (row !== undefined) yield toFound(shape, row);
    else if (key !== undefined) yield toLost(shape, key, nameOf(shape, key));
    else if (found === undefined) yield toLost(shape, { n }, `row ${n}`);
  }
}

/** Number of records in the key index; undefined when it cannot be read completely. */
export function countByKey(connection: Connection, { table }: Shape): number | undefined {
  const [row] = tryRead(connection, `SELECT count(*) AS count FROM ${table} INDEXED BY ${table}_key`, []) ?? [];
  return row === undefined ? undefined : number(row, "count");
}

/** Rows whose key is not in the key index: one of the two is damaged. Undefined when that is unknown. */
export function countUnnamed(connection: Connection, { table, key }: Shape): number | undefined {
  const same = ["n", ...key].map((column) => `named.${column} = record.${column}`).join(" AND ");
  const question = `SELECT count(*) AS count FROM ${table} AS record NOT INDEXED
    WHERE NOT EXISTS (SELECT 1 FROM ${table} AS named INDEXED BY ${table}_key WHERE ${same})`;
  const [row] = tryRead(connection, question, []) ?? [];
  return row === undefined ? undefined : number(row, "count");
}

export interface Names {
  /** The key columns of each row. */
  readonly names: ReadonlyMap<number, SqlRow>;
  /** False when the index itself has a damaged page; then it was read from both ends up to that page. */
  readonly isWhole: boolean;
}

export function readNames(connection: Connection, shape: Shape): Names {
  const names = new Map<number, SqlRow>();
  const isWhole = walkIndex(connection, shape, "ASC", names);
  if (!isWhole) walkIndex(connection, shape, "DESC", names);
  return { names, isWhole };
}

/** False when it stopped at a damaged page. */
function walkIndex(
  connection: Connection,
  shape: Shape,
  direction: "ASC" | "DESC",
  names: Map<number, SqlRow>,
): boolean {
  const { table, key } = shape;
  const [columns, marks] = [key.join(", "), key.map(() => "?").join(", ")];
  const order = key.map((column) => `${column} ${direction}`).join(", ");
  const next = `(${columns}) ${direction === "ASC" ? ">" : "<"} (${marks})`;
  let last: SqlValue[] | undefined;
  for (;;) {
    const where = last === undefined ? "" : `WHERE ${next}`;
    const question = `SELECT n, ${columns} FROM ${table} INDEXED BY ${table}_key ${where} ORDER BY ${order} LIMIT ${PAGE_ROWS}`;
    const page = tryRead(connection, question, last ?? []);
    if (page === undefined) return false;
    const before = names.size;
    for (const row of page) names.set(number(row, "n"), row);
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE_ROWS) return true;
    // A damaged index can return the same rows without end.
    if (names.size === before) return false;
    last = key.map((column) => end[column] ?? null);
  }
}

function everyNumber(connection: Connection, { table }: Shape, after: number, known: readonly number[]): number[] {
  const lastOf = tryRead(connection, `SELECT n FROM ${table} ORDER BY n DESC LIMIT 1`, [])?.[0];
  const end = known.reduce((most, n) => Math.max(most, n), lastOf === undefined ? 0 : number(lastOf, "n"));
  const start = Math.max(after + 1, 1);
  const length = Math.min(Math.max(0, end - start + 1), MAX_PROBES);
  const probes = Array.from({ length }, (_, index) => start + index);
  return [...new Set([...probes, ...known])];
}

function tryRead(connection: Connection, question: string, values: readonly SqlValue[]): readonly SqlRow[] | undefined {
  try {
    return connection.run(rows(question, values));
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

function toFound(shape: Shape, row: SqlRow): Found {
  const reason = distrust(shape, row);
  if (reason === undefined) return { row, isWhole: true };
  return { row, isWhole: true, damage: { table: shape.table, record: nameOf(shape, row), reason } };
}

function toLost({ table }: Shape, key: SqlRow, record: string): Found {
  return { row: key, isWhole: false, damage: { table, record, reason: UNREADABLE } };
}

/** Why a readable row is not valid. */
export function distrust({ table, json }: Shape, row: SqlRow): string | undefined {
  const bad = json.find((column) => !isJson(row[column]));
  if (bad !== undefined) return `${bad} is not JSON`;
  if (table === "transcript" && row["seal"] !== sealOfRow(row)) return "its checksum does not match";
  return undefined;
}

function isJson(value: SqlValue | undefined): boolean {
  if (value === null) return true;
  if (typeof value !== "string") return false;
  try {
    JSON.parse(value);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function sealOfRow(row: SqlRow): number {
  const { session_id: sessionId, seq, id, type, at, body = null } = row;
  return sealOf({
    sessionId: String(sessionId),
    seq: Number(seq),
    id: String(id),
    type: String(type),
    at: Number(at),
    body: body === null ? null : String(body),
  });
}

/** The name of a record for people. */
export function nameOf({ key }: Shape, row: SqlRow): string {
  return key.map((column) => (column === "seq" ? `#${row[column]}` : String(row[column]))).join(" ");
}
