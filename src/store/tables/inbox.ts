// The table of the inbox (named `letters`): one durable row per turn that was posted to a session.
import { OpenClawError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import { damaged, fromJson, number, optionalJson, readRecord, readRecords, text, toJson } from "../row.ts";
import {
  act,
  change,
  firstRow,
  rows,
  type ReportDamage,
  type Sql,
  type SqlRow,
  type SqlValue,
  type Steps,
} from "../sql.ts";
import type { InboxTable, InboxEntry, InboxState } from "../store.ts";

const columns = "id, session_key, run_id, at, state, body, result";
const states: ReadonlySet<string> = new Set<InboxState>(["pending", "claimed", "done", "failed"]);

export function createInbox(sql: Sql, report: ReportDamage): InboxTable {
  return {
    async post({ id, sessionKey, runId, at, body }) {
      const values = [id, sessionKey, runId, at, toJson(body)];
      return sql.write(() => postOne(id, values), { durable: true });
    },
    // Not durable: a lost claim and a reclaimed one both become pending again.
    claim: (sessionKey, limit) =>
      sql.write(
        function* () {
          const found = yield* rows(
            `SELECT n, ${columns} FROM letters WHERE session_key = ? AND state = 'pending' ORDER BY n LIMIT ?`,
            [sessionKey, limit],
          );
          for (const row of found)
            yield* change("UPDATE letters SET state = 'claimed' WHERE n = ?", [number(row, "n")]);
          const claimed = found.map((row) => ({ ...row, state: "claimed" }));
          return readRecords("letters", "id", claimed, toInboxEntry, report);
        },
        { durable: false },
      ),
    async finish(id, state, result) {
      const values = [state, toJson(result), id];
      return sql.write(() => finishOne(id, values), { durable: true });
    },
    reclaim: () =>
      sql.write(() => change("UPDATE letters SET state = 'pending' WHERE state = 'claimed'"), { durable: false }),
    get: (id) => sql.read(() => readOne(id)),
    waiting: () =>
      sql.read(function* () {
        const found = yield* rows(
          "SELECT session_key FROM letters WHERE state = 'pending' GROUP BY session_key ORDER BY min(n)",
        );
        return found.map((row) => text(row, "session_key") as SessionKey);
      }),
    prune: (before) =>
      sql.write(() => change("DELETE FROM letters WHERE state IN ('done', 'failed') AND at < ?", [before]), {
        durable: false,
      }),
  };
}

function* postOne(id: string, values: readonly SqlValue[]): Steps<InboxEntry> {
  yield* act(
    `INSERT INTO letters (id, session_key, run_id, at, state, body) VALUES (?, ?, ?, ?, 'pending', ?)
     ON CONFLICT (id) DO NOTHING`,
    values,
  );
  const stored = yield* readOne(id);
  if (stored === undefined) throw new OpenClawError("store.damaged", `the inbox entry ${id} was not stored`);
  return stored;
}

function* finishOne(id: string, values: readonly SqlValue[]): Steps<void> {
  const changed = yield* change(
    "UPDATE letters SET state = ?, result = ? WHERE id = ? AND state IN ('pending', 'claimed')",
    values,
  );
  if (changed > 0 || (yield* firstRow("SELECT id FROM letters WHERE id = ?", [id])) !== undefined) return;
  throw new OpenClawError("store.not-found", `there is no inbox entry ${id}`);
}

function* readOne(id: string): Steps<InboxEntry | undefined> {
  return readRecord("letters", id, yield* firstRow(`SELECT ${columns} FROM letters WHERE id = ?`, [id]), toInboxEntry);
}

function toInboxEntry(row: SqlRow): InboxEntry {
  const state = text(row, "state");
  if (!states.has(state)) throw damaged("state is not valid for an inbox entry");
  return {
    id: text(row, "id"),
    sessionKey: text(row, "session_key") as SessionKey,
    runId: text(row, "run_id"),
    at: number(row, "at"),
    state: state as InboxState,
    body: fromJson(row, "body"),
    ...optionalJson("result", row, "result"),
  };
}
