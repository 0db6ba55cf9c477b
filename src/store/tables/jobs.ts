// The table of scheduled jobs: next due time, state, and the claim that lets a slot start once.
import { fromJson, number, optionalNumber, readRecord, readRecords, text, toJson } from "../row.ts";
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
import type { JobRecord, JobTable, SlotRecord } from "../store.ts";
import { slotColumns, slotValues } from "./slots.ts";

const columns = "id, next_at, created_at, updated_at, body, state";
const upsert = `INSERT INTO jobs (${columns}) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET next_at = excluded.next_at, created_at = excluded.created_at,
    updated_at = excluded.updated_at, body = excluded.body, state = excluded.state`;
const insertSlot = `INSERT INTO slots (${slotColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (job_id, slot) DO NOTHING`;
const endSlot = `UPDATE slots SET state = ?, why = coalesce(?, why), ended_at = ?,
  session_id = coalesce(?, session_id), error = ?, summary = ? WHERE job_id = ? AND slot = ? AND state = 'running'`;

export function createJobs(sql: Sql, report: ReportDamage): JobTable {
  const durable = { durable: true };
  return {
    get: (id) => sql.read(() => readJob(id)),
    list: () =>
      sql.read(function* () {
        const found = yield* rows(`SELECT ${columns} FROM jobs ORDER BY n`);
        return readRecords("jobs", "id", found, toJob, report);
      }),
    count: () =>
      sql.read(function* () {
        return Number((yield* firstRow("SELECT count(*) AS jobs FROM jobs"))?.["jobs"] ?? 0);
      }),
    async put(job) {
      const values = jobValues(job);
      return sql.write(() => act(upsert, values), durable);
    },
    update: (id, move) =>
      sql.write(function* () {
        const current = yield* readJob(id);
        const next = current === undefined ? undefined : move(current);
        if (next === undefined) return current;
        yield* act(upsert, jobValues(next));
        return next;
      }, durable),
    delete: (id) =>
      sql.write(function* () {
        return (yield* change("DELETE FROM jobs WHERE id = ?", [id])) > 0;
      }, durable),
    outlook: () =>
      sql.read(function* () {
        const row = (yield* firstRow(
          `SELECT (SELECT min(next_at) FROM jobs WHERE next_at IS NOT NULL) AS next_at,
             (SELECT count(*) FROM slots WHERE state = 'running') AS running`,
        )) ?? { running: 0 };
        return { ...optionalNumber("nextAt", row, "next_at"), running: number(row, "running") };
      }),
    due: (now, limit) =>
      sql.read(function* () {
        const found = yield* rows(
          `SELECT ${columns} FROM jobs WHERE next_at IS NOT NULL AND next_at <= ? ORDER BY next_at, n LIMIT ?`,
          [now, limit],
        );
        return readRecords("jobs", "id", found, toJob, report);
      }),
    claim: (id, decide) =>
      sql.write(function* () {
        const current = yield* readJob(id);
        const decided = current === undefined ? undefined : decide(current);
        if (decided === undefined) return [];
        const fresh: SlotRecord[] = [];
        for (const slot of decided.rows) if ((yield* change(insertSlot, slotValues(slot))) > 0) fresh.push(slot);
        yield* act(upsert, jobValues(decided.job));
        return fresh;
      }, durable),
    finish: ({ jobId, slot }, end, move) =>
      sql.write(function* () {
        const { state, why = null, endedAt = null, sessionId = null, error = null, summary = null } = end;
        const ended = yield* change(endSlot, [state, why, endedAt, sessionId, error, summary, jobId, slot]);
        if (ended === 0) return false;
        const job = yield* readJob(jobId);
        const next = job === undefined ? undefined : move(job);
        if (next === "delete") yield* act("DELETE FROM jobs WHERE id = ?", [jobId]);
        else if (next !== undefined) yield* act(upsert, jobValues(next));
        return true;
      }, durable),
  };
}

function* readJob(id: string): Steps<JobRecord | undefined> {
  return readRecord("jobs", id, yield* firstRow(`SELECT ${columns} FROM jobs WHERE id = ?`, [id]), toJob);
}

function jobValues({ id, nextAt, createdAt, updatedAt, body, state }: JobRecord): SqlValue[] {
  return [id, nextAt ?? null, createdAt, updatedAt, toJson(body), toJson(state)];
}

function toJob(row: SqlRow): JobRecord {
  return {
    id: text(row, "id"),
    ...optionalNumber("nextAt", row, "next_at"),
    createdAt: number(row, "created_at"),
    updatedAt: number(row, "updated_at"),
    body: fromJson(row, "body"),
    state: fromJson(row, "state"),
  };
}
