// The table of tool calls: one small row per call.
import { damaged, number, optionalJson, optionalNumber, optionalText, readRecords, text, toJson } from "../row.ts";
import { act, change, rows, type ReportDamage, type Sql, type SqlRow, type SqlValue } from "../sql.ts";
import type { CallOutcome, JournalEntry, JournalQuery, JournalTable } from "../store.ts";

const columns =
  "id, at, tool, agent_id, session_key, caller, outcome, duration_ms, intent, args, decision, error, turn";
const outcomes: ReadonlySet<string> = new Set<CallOutcome>(["started", "ok", "error", "refused", "aborted", "unknown"]);
const upsert = `INSERT INTO journal (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET at = excluded.at, tool = excluded.tool, agent_id = excluded.agent_id,
    session_key = excluded.session_key, caller = excluded.caller, outcome = excluded.outcome,
    duration_ms = excluded.duration_ms, intent = excluded.intent, args = excluded.args,
    decision = excluded.decision, error = excluded.error, turn = excluded.turn`;

export function createJournal(sql: Sql, report: ReportDamage): JournalTable {
  return {
    async record(entry, options) {
      const values = toValues(entry);
      return sql.write(() => act(upsert, values), options);
    },
    list: (query) =>
      sql.read(function* () {
        const { where, values } = toConditions(query);
        const limit = query.limit === undefined ? "" : "LIMIT ?";
        const question = `SELECT ${columns} FROM journal ${where} ORDER BY n DESC ${limit}`;
        const found = yield* rows(question, [...values, ...(query.limit === undefined ? [] : [query.limit])]);
        return readRecords("journal", "id", found, toEntry, report);
      }),
    closeOpenEntries: () =>
      sql.write(() => change("UPDATE journal SET outcome = 'unknown' WHERE outcome = 'started' AND outcome <> 'ok'"), {
        durable: false,
      }),
    prune: (keep) =>
      sql.write(
        () => change("DELETE FROM journal WHERE n <= (SELECT n FROM journal ORDER BY n DESC LIMIT 1 OFFSET ?)", [keep]),
        { durable: false },
      ),
  };
}

function toValues(entry: JournalEntry): SqlValue[] {
  const { id, at, tool, agentId, sessionKey, caller, outcome, durationMs = null, turn = null } = entry;
  const bodies = [entry.intent, entry.args, entry.decision, entry.error].map((body) => toJson(body));
  return [id, at, tool, agentId, sessionKey, caller, outcome, durationMs, ...bodies, turn];
}

function toConditions({ sessionKey, tool, outcome }: JournalQuery): { where: string; values: SqlValue[] } {
  const conditions: [text: string, value: SqlValue][] = [];
  if (sessionKey !== undefined) conditions.push(["session_key = ?", sessionKey]);
  if (tool !== undefined) conditions.push(["tool = ?", tool]);
  // Most calls succeed, so only the others are indexed by outcome; repeating the condition lets SQLite use that index.
  if (outcome !== undefined)
    conditions.push([outcome === "ok" ? "outcome = ?" : "outcome = ? AND outcome <> 'ok'", outcome]);
  if (conditions.length === 0) return { where: "", values: [] };
  return {
    where: `WHERE ${conditions.map(([condition]) => condition).join(" AND ")}`,
    values: conditions.map(([, value]) => value),
  };
}

function toEntry(row: SqlRow): JournalEntry {
  const outcome = text(row, "outcome");
  if (!outcomes.has(outcome)) throw damaged("outcome is not valid for a call");
  return {
    id: text(row, "id"),
    at: number(row, "at"),
    tool: text(row, "tool"),
    agentId: text(row, "agent_id"),
    sessionKey: text(row, "session_key"),
    caller: text(row, "caller"),
    outcome: outcome as CallOutcome,
    ...optionalText("turn", row, "turn"),
    ...optionalNumber("durationMs", row, "duration_ms"),
    ...optionalJson("intent", row, "intent"),
    ...optionalJson("args", row, "args"),
    ...optionalJson("decision", row, "decision"),
    ...optionalJson("error", row, "error"),
  };
}
