// Verifies a store check by check and names every damaged record. Slow: not for the event loop of a gateway.
import { OpenClawError } from "../core/error.ts";
import { openForReading, type Connection } from "./connection.ts";
import { migrations } from "./migrations/list.ts";
import { requireFile } from "./store-files.ts";
import { readTable } from "./readable.ts";
import { isDamage, reasonOf, text } from "./row.ts";
import { shapes, type Shape } from "./shapes.ts";
import { rows, type Damage } from "./sql.ts";
import { versionOf } from "./version.ts";

const MAX_NAMED = 20;
const UNREADABLE = "unknown: a page that this check needs is damaged";

export interface StoreCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface StoreReport {
  readonly file: string;
  readonly ok: boolean;
  readonly checks: readonly StoreCheck[];
  /** Number of readable rows by table. */
  readonly counts: Readonly<Record<string, number>>;
  /** Every lost or damaged record. */
  readonly damages: readonly Damage[];
}

/** True when all records are intact and only data derived from them, such as an index, is damaged. */
export function isRebuildable({ checks, damages }: StoreReport): boolean {
  return (
    damages.length === 0 && checks.every(({ name, ok, detail }) => ok || name === "integrity" || detail === UNREADABLE)
  );
}

/**
 * Reads a consistent snapshot, also while a gateway writes, and never changes the store. Throws `store.busy` or
 * `store.full` when it cannot read; that says nothing about the store itself.
 */
export async function verifyStore(file: string): Promise<StoreReport> {
  try {
    requireFile(file);
    const connection = openForReading(file);
    try {
      connection.exec("BEGIN");
      return inspect(connection);
    } finally {
      connection.close();
    }
  } catch (error) {
    if (error instanceof OpenClawError && (error.code === "store.busy" || error.code === "store.full")) throw error;
    return unopened(file, reasonOf(error));
  }
}

function inspect(connection: Connection): StoreReport {
  const { file } = connection;
  const version = versionOf(connection);
  if (version === 0) return unopened(file, "it is empty");
  const { counts, damages } = readAll(connection);
  const checks = [
    toCheck("opens", []),
    shapeCheck(version),
    toCheck(
      "integrity",
      ask(connection, "PRAGMA integrity_check(20)", "integrity_check").filter((line) => line !== "ok"),
    ),
    toCheck("foreign keys", ask(connection, "PRAGMA foreign_key_check", "table")),
    toCheck(
      "records",
      damages.map(({ table, record, reason }) => `${table} ${record}: ${reason}`),
    ),
    toCheck("transcript order", ask(connection, brokenOrder, "problem")),
    orphanCheck(connection),
  ];
  return { file, ok: checks.every((check) => check.ok), checks, counts, damages };
}

function readAll(connection: Connection): Pick<StoreReport, "counts" | "damages"> {
  const damages: Damage[] = [];
  const counts: Record<string, number> = {};
  for (const shape of shapes.filter((known) => hasTable(connection, known))) {
    counts[shape.table] = 0;
    for (const { isWhole, damage } of readTable(connection, shape)) {
      if (damage !== undefined) damages.push(damage);
      if (isWhole) counts[shape.table] = (counts[shape.table] ?? 0) + 1;
    }
  }
  return { counts, damages };
}

function hasTable(connection: Connection, { table }: Shape): boolean {
  return connection.value(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = '${table}'`) === table;
}

function shapeCheck(version: number): StoreCheck {
  const known = migrations.length;
  if (version === known) return { name: "shape", ok: true, detail: `version ${version}` };
  const wanted = version > known ? "written by a newer version of this program" : "will be migrated at the next start";
  return { name: "shape", ok: version < known, detail: `version ${version}: ${wanted}` };
}

const brokenOrder = `SELECT session_id || ' has ' || count(*) || ' entries numbered ' || min(seq) || ' to ' || max(seq) AS problem
  FROM transcript GROUP BY session_id HAVING min(seq) <> 1 OR max(seq) <> count(*)`;

/** Not a problem: a session that was reset or deleted keeps its transcript on purpose. */
function orphanCheck(connection: Connection): StoreCheck {
  const name = "orphan transcripts";
  const found = ask(
    connection,
    "SELECT DISTINCT session_id FROM transcript WHERE session_id NOT IN (SELECT session_id FROM sessions)",
    "session_id",
  );
  return {
    name,
    ok: true,
    detail: found.length === 0 ? "none" : `${found.length} kept without a session: ${few(found)}`,
  };
}

/** A query that fails on a damaged page is a separate problem. */
function ask(connection: Connection, question: string, column: string): string[] {
  try {
    return connection.run(rows(question)).map((row) => text(row, column));
  } catch (error) {
    if (isDamage(error)) return [UNREADABLE];
    throw error;
  }
}

function toCheck(name: string, problems: readonly string[]): StoreCheck {
  return { name, ok: problems.length === 0, detail: problems.length === 0 ? "ok" : few(problems) };
}

function few(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join("; ") + (rest > 0 ? `; and ${rest} more` : "");
}

function unopened(file: string, detail: string): StoreReport {
  return { file, ok: false, checks: [{ name: "opens", ok: false, detail }], counts: {}, damages: [] };
}
