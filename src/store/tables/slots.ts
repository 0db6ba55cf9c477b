// The table of slots: one row for each due time of a job, with its outcome.
import { damaged, number, optionalNumber, optionalText, readRecord, readRecords, text } from "../row.ts";
import { change, firstRow, rows, type ReportDamage, type Sql, type SqlRow, type SqlValue } from "../sql.ts";
import type { SlotRecord, SlotState, SlotTable } from "../store.ts";
import { kvSteps } from "./kv.ts";

export const slotColumns =
  "job_id, slot, at, state, why, started_at, ended_at, run_id, session_key, session_id, error, summary, missed";
const states: ReadonlySet<string> = new Set<SlotState>(["running", "ran", "failed", "skipped", "missed", "unknown"]);

export function createSlots(sql: Sql, report: ReportDamage): SlotTable {
  return {
    get: (jobId, slot) =>
      sql.read(function* () {
        const row = yield* firstRow(`SELECT ${slotColumns} FROM slots WHERE job_id = ? AND slot = ?`, [jobId, slot]);
        return readRecord("slots", `${jobId} ${slot}`, row, toSlot);
      }),
    list: (jobId, limit, skip = 0) =>
      sql.read(function* () {
        const found = yield* rows(
          `SELECT ${slotColumns} FROM slots WHERE job_id = ? ORDER BY n DESC LIMIT ? OFFSET ?`,
          [jobId, limit, skip],
        );
        return readRecords("slots", "slot", found.toReversed(), toSlot, report);
      }),
    running: () =>
      sql.read(function* () {
        const found = yield* rows(`SELECT ${slotColumns} FROM slots WHERE state = 'running' ORDER BY n`);
        return readRecords("slots", "slot", found, toSlot, report);
      }),
    async note({ jobId, slot }, summary, also) {
      const others = kvSteps([also]);
      return sql.write(
        function* () {
          const values = [summary, jobId, slot];
          const noted = yield* change(
            "UPDATE slots SET summary = ? WHERE job_id = ? AND slot = ? AND state = 'running'",
            values,
          );
          if (noted === 0) return false;
          yield* others();
          return true;
        },
        { durable: true },
      );
    },
    latest: () =>
      sql.read(function* () {
        const at = (yield* firstRow("SELECT max(at) AS at FROM slots"))?.["at"];
        return typeof at === "number" ? at : undefined;
      }),
    prune: (jobId, keep) =>
      sql.write(
        () =>
          change(
            `DELETE FROM slots WHERE job_id = ? AND state <> 'running' AND n <=
               (SELECT n FROM slots WHERE job_id = ? ORDER BY n DESC LIMIT 1 OFFSET ?)`,
            [jobId, jobId, keep],
          ),
        { durable: false },
      ),
    pruneGone: (before) =>
      sql.write(
        () =>
          change(
            `DELETE FROM slots WHERE at < ? AND state <> 'running'
               AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = slots.job_id)`,
            [before],
          ),
        { durable: false },
      ),
  };
}

/** In the order of `slotColumns`. */
export function slotValues(slot: SlotRecord): SqlValue[] {
  const { why = null, startedAt = null, endedAt = null, runId = null, sessionKey = null } = slot;
  const { sessionId = null, error = null, summary = null, missed = null } = slot;
  return [
    slot.jobId,
    slot.slot,
    slot.at,
    slot.state,
    why,
    startedAt,
    endedAt,
    runId,
    sessionKey,
    sessionId,
    error,
    summary,
    missed,
  ];
}

function toSlot(row: SqlRow): SlotRecord {
  const state = text(row, "state");
  if (!states.has(state)) throw damaged("state is not valid for a slot");
  return {
    jobId: text(row, "job_id"),
    slot: text(row, "slot"),
    at: number(row, "at"),
    state: state as SlotState,
    ...optionalText("why", row, "why"),
    ...optionalNumber("startedAt", row, "started_at"),
    ...optionalNumber("endedAt", row, "ended_at"),
    ...optionalText("runId", row, "run_id"),
    ...optionalText("sessionKey", row, "session_key"),
    ...optionalText("sessionId", row, "session_id"),
    ...optionalText("error", row, "error"),
    ...optionalText("summary", row, "summary"),
    ...optionalNumber("missed", row, "missed"),
  };
}
