// The table of small values that need no table of their own.
import { fromJson, readRecord, readRecords, text, toJson } from "../row.ts";
import { act, firstRow, rows, type ReportDamage, type Sql, type Steps } from "../sql.ts";
import type { KvTable, KvWrite } from "../store.ts";

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
      const steps = kvSteps([{ space, key, value }]);
      return sql.write(steps, { durable: true });
    },
    async setAll(writes) {
      const steps = kvSteps(writes);
      return sql.write(steps, { durable: true });
    },
    list: (space, within) =>
      sql.read(function* () {
        const found = yield* rows(
          `SELECT key, value FROM kv WHERE space = ? ${within === undefined ? "" : "AND key >= ? AND key < ?"} ORDER BY key`,
          within === undefined ? [space] : [space, within.from, within.below],
        );
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

/** For writes of other tables that include one here. An invalid value throws before the first statement. */
export function kvSteps(writes: readonly (KvWrite | undefined)[]): () => Steps<void> {
  const rowsOf = writes.flatMap((write) => (write === undefined ? [] : [{ ...write, body: toJson(write.value) }]));
  return function* () {
    for (const { space, key, body } of rowsOf)
      yield* body === null ? act(remove, [space, key]) : act(upsert, [space, key, body]);
  };
}
