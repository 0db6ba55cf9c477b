// The table of actions that may happen once: the first to claim a key does it, later callers read its result.
import { fromJson, readRecord, toJson } from "../row.ts";
import { act, change, firstRow, type Sql } from "../sql.ts";
import type { DedupeTable } from "../store.ts";
import { kvSteps } from "./kv.ts";

export function createDedupe(sql: Sql): DedupeTable {
  return {
    claim: (scope, key, expiresAt) =>
      sql.write(
        function* () {
          const claimed = yield* change(
            "INSERT INTO dedupe (scope, key, expires_at) VALUES (?, ?, ?) ON CONFLICT (scope, key) DO NOTHING",
            [scope, key, expiresAt],
          );
          if (claimed > 0) return { fresh: true } as const;
          const found = yield* firstRow("SELECT result FROM dedupe WHERE scope = ? AND key = ?", [scope, key]);
          return {
            fresh: false,
            result: readRecord("dedupe", `${scope} ${key}`, found, (row) => fromJson(row, "result")),
          } as const;
        },
        { durable: true },
      ),
    async settle(scope, key, result, also) {
      const values = [toJson(result), scope, key];
      const others = kvSteps([also]);
      return sql.write(
        function* () {
          yield* act("UPDATE dedupe SET result = ? WHERE scope = ? AND key = ?", values);
          yield* others();
        },
        { durable: true },
      );
    },
    prune: (now) => sql.write(() => change("DELETE FROM dedupe WHERE expires_at < ?", [now]), { durable: false }),
  };
}
