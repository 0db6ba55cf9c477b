// Converts rows to records and checks each column; names an invalid one.
import { OpenClawError } from "../core/error.ts";
import type { ReportDamage, SqlRow } from "./sql.ts";

export function text(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  throw damaged(`${column} is not a text`);
}

export function number(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value === "number") return value;
  throw damaged(`${column} is not a number`);
}

/** One property to spread; omitted when the column is null. */
export function optionalText<K extends string>(name: K, row: SqlRow, column: string): { readonly [P in K]?: string } {
  return isNull(row, column) ? {} : ({ [name]: text(row, column) } as { [P in K]: string });
}

export function optionalNumber<K extends string>(name: K, row: SqlRow, column: string): { readonly [P in K]?: number } {
  return isNull(row, column) ? {} : ({ [name]: number(row, column) } as { [P in K]: number });
}

export function optionalJson<K extends string>(name: K, row: SqlRow, column: string): { readonly [P in K]?: unknown } {
  return isNull(row, column) ? {} : ({ [name]: fromJson(row, column) } as { [P in K]: unknown });
}

/** Undefined has no JSON form and is stored as null; JSON null is the text "null". */
export function toJson(value: unknown): string | null {
  return JSON.stringify(value) ?? null;
}

export function fromJson(row: SqlRow, column: string): unknown {
  if (isNull(row, column)) return undefined;
  try {
    return JSON.parse(text(row, column)) as unknown;
  } catch (cause) {
    throw damaged(`${column} is not JSON`, cause);
  }
}

/** One record by its key; a damaged one throws an error with its name. */
export function readRecord<T>(
  table: string,
  record: string,
  row: SqlRow | undefined,
  parse: (row: SqlRow) => T,
): T | undefined {
  if (row === undefined) return undefined;
  try {
    return parse(row);
  } catch (cause) {
    throw new OpenClawError("store.damaged", `the record ${record} in ${table} is damaged: ${reasonOf(cause)}`, {
      cause,
      hint: "openclaw doctor",
      details: { table, record },
    });
  }
}

/** Many records: a damaged one is reported by name and skipped. */
export function readRecords<T>(
  table: string,
  keyColumn: string,
  found: readonly SqlRow[],
  parse: (row: SqlRow) => T,
  report: ReportDamage,
): T[] {
  return found.flatMap((row) => {
    try {
      return [parse(row)];
    } catch (cause) {
      report({ table, record: String(row[keyColumn]), reason: reasonOf(cause) });
      return [];
    }
  });
}

export function damaged(reason: string, cause?: unknown): OpenClawError {
  return new OpenClawError("store.damaged", reason, { cause });
}

export function isDamage(error: unknown): boolean {
  return error instanceof OpenClawError && error.code === "store.damaged";
}

export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function isNull(row: SqlRow, column: string): boolean {
  return row[column] === null || row[column] === undefined;
}
