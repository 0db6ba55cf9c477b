// The table of subagents: requester, outcome, and whether the outcome was delivered.
import type { SessionKey } from "../../core/names.ts";
import { damaged, fromJson, number, optionalNumber, readRecord, readRecords, text, toJson } from "../row.ts";
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
import type { ChildRecord, ChildState, ChildStatus, ChildTable } from "../store.ts";

const columns = "run_id, child_key, requester_key, state, status, created_at, ended_at, archive_at, body";
const byRun = `SELECT ${columns} FROM children WHERE run_id = ?`;
const upsert = `INSERT INTO children (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (run_id) DO UPDATE SET child_key = excluded.child_key, requester_key = excluded.requester_key,
    state = excluded.state, status = excluded.status, created_at = excluded.created_at, ended_at = excluded.ended_at,
    archive_at = excluded.archive_at, body = excluded.body`;
const states: ReadonlySet<string> = new Set<ChildState>(["running", "ended", "announcing", "told"]);
const statuses: ReadonlySet<string> = new Set<ChildStatus>(["ok", "error", "timeout", "killed", "unknown"]);

export function createChildren(sql: Sql, report: ReportDamage): ChildTable {
  return {
    async add(child) {
      const values = toValues(child);
      return sql.write(() => act(`INSERT INTO children (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, values), {
        durable: true,
      });
    },
    get: (runId) => sql.read(() => readOne(runId)),
    update: (runId, decide) =>
      sql.write(
        function* () {
          const current = yield* readOne(runId);
          const next = current === undefined ? undefined : decide(current);
          if (next === undefined) return undefined;
          yield* act(upsert, toValues(next));
          return next;
        },
        { durable: true },
      ),
    ofRequester: (key, limit) =>
      sql.read(function* () {
        const question = `SELECT ${columns} FROM children WHERE requester_key = ? ORDER BY n DESC LIMIT ?`;
        return readRecords("children", "run_id", yield* rows(question, [key, limit]), toChild, report);
      }),
    running: (key) =>
      sql.read(function* () {
        const question = "SELECT count(*) AS total FROM children WHERE requester_key = ? AND state = 'running'";
        const found = yield* firstRow(question, [key]);
        return found === undefined ? 0 : number(found, "total");
      }),
    runningOf: (key) =>
      sql.read(function* () {
        const question = `SELECT ${columns} FROM children WHERE requester_key = ? AND state = 'running' ORDER BY n`;
        return readRecords("children", "run_id", yield* rows(question, [key]), toChild, report);
      }),
    open: () =>
      sql.read(function* () {
        const found = yield* rows(`SELECT ${columns} FROM children WHERE state <> 'told' ORDER BY n`);
        return readRecords("children", "run_id", found, toChild, report);
      }),
    due: (now, limit) =>
      sql.read(function* () {
        const question = `SELECT ${columns} FROM children WHERE archive_at <= ? ORDER BY archive_at LIMIT ?`;
        return readRecords("children", "run_id", yield* rows(question, [now, limit]), toChild, report);
      }),
    nextDue: () =>
      sql.read(function* () {
        const found = yield* firstRow(
          "SELECT archive_at FROM children WHERE archive_at IS NOT NULL ORDER BY archive_at LIMIT 1",
        );
        return found === undefined ? undefined : number(found, "archive_at");
      }),
    prune: (before) =>
      sql.write(
        () => change("DELETE FROM children WHERE state = 'told' AND archive_at IS NULL AND ended_at < ?", [before]),
        { durable: false },
      ),
  };
}

function* readOne(runId: string): Steps<ChildRecord | undefined> {
  return readRecord("children", runId, yield* firstRow(byRun, [runId]), toChild);
}

function toValues(child: ChildRecord): SqlValue[] {
  const { runId, childKey, requesterKey, state, status = null, createdAt, endedAt = null, archiveAt = null } = child;
  return [runId, childKey, requesterKey, state, status, createdAt, endedAt, archiveAt, toJson(child.body)];
}

function toChild(row: SqlRow): ChildRecord {
  const state = text(row, "state");
  if (!states.has(state)) throw damaged("state is not valid for a subagent");
  const status = row["status"];
  if (status !== null && !statuses.has(String(status))) throw damaged("status is not valid for a subagent");
  return {
    runId: text(row, "run_id"),
    childKey: text(row, "child_key") as SessionKey,
    requesterKey: text(row, "requester_key") as SessionKey,
    state: state as ChildState,
    ...(status === null ? {} : { status: status as ChildStatus }),
    createdAt: number(row, "created_at"),
    ...optionalNumber("endedAt", row, "ended_at"),
    ...optionalNumber("archiveAt", row, "archive_at"),
    body: fromJson(row, "body"),
  };
}
