// The table of runs and their outcomes.
import type { SessionKey } from "../../core/names.ts";
import { damaged, fromJson, number, optionalNumber, readRecord, readRecords, text, toJson } from "../row.ts";
import { act, change, firstRow, rows, type ReportDamage, type Sql, type SqlRow } from "../sql.ts";
import type { RunRecord, RunState, RunTable } from "../store.ts";

const columns = "id, session_key, state, started_at, ended_at, body";
const upsert = `INSERT INTO runs (${columns}) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET session_key = excluded.session_key, state = excluded.state,
    started_at = excluded.started_at, ended_at = excluded.ended_at, body = excluded.body`;
const states: ReadonlySet<string> = new Set<RunState>(["running", "ok", "error", "aborted", "unknown"]);

export function createRuns(sql: Sql, report: ReportDamage): RunTable {
  return {
    async put({ id, sessionKey, state, startedAt, endedAt = null, body }) {
      const values = [id, sessionKey, state, startedAt, endedAt, toJson(body)];
      return sql.write(() => act(upsert, values), { durable: true });
    },
    get: (id) =>
      sql.read(function* () {
        return readRecord("runs", id, yield* firstRow(`SELECT ${columns} FROM runs WHERE id = ?`, [id]), toRun);
      }),
    open: () =>
      sql.read(function* () {
        const found = yield* rows(`SELECT ${columns} FROM runs WHERE state = 'running' ORDER BY n`);
        return readRecords("runs", "id", found, toRun, report);
      }),
    prune: (before) =>
      sql.write(() => change("DELETE FROM runs WHERE state <> 'running' AND ended_at < ?", [before]), {
        durable: false,
      }),
  };
}

function toRun(row: SqlRow): RunRecord {
  const state = text(row, "state");
  if (!states.has(state)) throw damaged("state is not valid for a run");
  return {
    id: text(row, "id"),
    sessionKey: text(row, "session_key") as SessionKey,
    state: state as RunState,
    startedAt: number(row, "started_at"),
    ...optionalNumber("endedAt", row, "ended_at"),
    body: fromJson(row, "body"),
  };
}
