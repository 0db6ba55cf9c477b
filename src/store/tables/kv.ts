// The table for small things that need no table of their own.
import { fromJson, readRecord, readRecords, text, toJson } from "../row.ts";
import { act, firstRow, rows, type ReportDamage, type Sql } from "../sql.ts";
import type { KvTable } from "../store.ts";

const remove = "DELETE FROM kv WHERE space = ? AND key = ?";
const upsert = `INSERT INTO kv (space, key, value) VALUES (?, ?, ?)
  ON CONFLICT (space, key) DO UPDATE SET value = excluded.value`;

export function createKv(sql: Sql, report: ReportDamage): KvTable {
  return {
    get: (space, key) =>
      sql.read(function* () {
        const found = yield* firstRow("SELECT value FROM kv WHERE space = ? AND key = ?", [space, key]);
        return readRecord("kv", `${space} ${key}`, found, (row) => fromJson(row, "value"));
      }),
    async set(space, key, value) {
      const body = toJson(value);
      const steps = body === null ? () => act(remove, [space, key]) : () => act(upsert, [space, key, body]);
      return sql.write(steps, { durable: true });
    },
    list: (space) =>
      sql.read(function* () {
        const found = yield* rows("SELECT key, value FROM kv WHERE space = ? ORDER BY key", [space]);
        return readRecords(
          "kv",
          "key",
          found,
          (row) => ({ key: text(row, "key"), value: fromJson(row, "value") }),
          report,
        );
      }),
  };
}
