// The table of sessions: one row per key, listed by when it was last active.
import { OpenClawError } from "../../core/error.ts";
import type { AgentId, SessionKey } from "../../core/names.ts";
import { keyKind as kindOfKey } from "../key-kind.ts";
import { damaged, fromJson, number, optionalText, readRecord, readRecords, text, toJson } from "../row.ts";
import { act, firstRow, rows, type ReportDamage, type Sql, type SqlRow, type SqlValue, type Steps } from "../sql.ts";
import {
  SESSION_USAGE,
  SESSION_USAGE_SEPARATOR,
  type SessionQuery,
  type SessionRecord,
  type SessionTable,
} from "../store.ts";

const columns = "key, agent_id, session_id, created_at, updated_at, label, spawned_by, entry";
const byKey = `SELECT ${columns} FROM sessions WHERE key = ?`;
const upsert = `INSERT INTO sessions (${columns}, haystack) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET agent_id = excluded.agent_id, session_id = excluded.session_id,
    created_at = excluded.created_at, updated_at = excluded.updated_at, label = excluded.label,
    spawned_by = excluded.spawned_by, entry = excluded.entry, haystack = excluded.haystack`;
// Another key may use the same session.
const deleteTranscript = `DELETE FROM transcript WHERE session_id = ?
  AND NOT EXISTS (SELECT 1 FROM sessions WHERE session_id = ?)`;
const deleteUsage = "DELETE FROM kv WHERE space = ? AND key >= ? AND key < ?";
// Keys and session ids have no control characters, so a search never matches across two fields.
const border = "\u001f";
// SQLite rejects longer LIKE patterns (50,000 bytes); no name is that long.
const MAX_SEARCH_LENGTH = 4000;

export function createSessions(sql: Sql, report: ReportDamage): SessionTable {
  return {
    get: (key) => sql.read(() => readOne(key)),
    byId: (sessionId) =>
      sql.read(function* () {
        const found = yield* firstRow(
          `SELECT ${columns} FROM sessions WHERE session_id = ? ORDER BY updated_at DESC LIMIT 1`,
          [sessionId],
        );
        return readRecord("sessions", sessionId, found, toSession);
      }),
    list: (query) =>
      sql.read(function* () {
        if ((query.search?.length ?? 0) > MAX_SEARCH_LENGTH) return [];
        const { where, values } = toConditions(query);
        const limit = query.limit === undefined ? "" : "LIMIT ?";
        const question = `SELECT ${columns} FROM sessions ${where} ORDER BY updated_at DESC, key ${limit}`;
        const found = yield* rows(question, [...values, ...(query.limit === undefined ? [] : [query.limit])]);
        return readRecords("sessions", "key", found, toSession, report);
      }),
    count: (agentId) =>
      sql.read(function* () {
        const where = agentId === undefined ? "" : "WHERE agent_id = ?";
        const found = yield* firstRow(
          `SELECT count(*) AS total FROM sessions ${where}`,
          agentId === undefined ? [] : [agentId],
        );
        return found === undefined ? 0 : number(found, "total");
      }),
    async put(record) {
      const values = toValues(record);
      return sql.write(() => act(upsert, values), { durable: true });
    },
    update: (key, decide) =>
      sql.write(
        function* () {
          const current = yield* readOne(key);
          const next = decide(current);
          if (next === undefined) return current;
          if (next.key !== key)
            throw new OpenClawError("store.bad-record", `an update of ${key} cannot write ${next.key}`);
          yield* act(upsert, toValues(next));
          return next;
        },
        { durable: true },
      ),
    delete: (key, { transcript }) =>
      sql.write(
        function* () {
          const found = yield* firstRow("DELETE FROM sessions WHERE key = ? RETURNING session_id", [key]);
          if (found === undefined) return false;
          const sessionId = text(found, "session_id");
          if (transcript) {
            yield* act(deleteTranscript, [sessionId, sessionId]);
            const first = key + SESSION_USAGE_SEPARATOR;
            yield* act(deleteUsage, [SESSION_USAGE, first, `${first}~`]);
          }
          return true;
        },
        { durable: true },
      ),
  };
}

function* readOne(key: SessionKey): Steps<SessionRecord | undefined> {
  return readRecord("sessions", key, yield* firstRow(byKey, [key]), toSession);
}

function toValues(record: SessionRecord): SqlValue[] {
  const { key, agentId, sessionId, createdAt, updatedAt, label = null, spawnedBy = null, entry } = record;
  const haystack = [key, label ?? "", sessionId].map((field) => toNeedle(field)).join(border);
  return [key, agentId, sessionId, createdAt, updatedAt, label, spawnedBy, toJson(entry), haystack];
}

function toConditions(query: SessionQuery): { where: string; values: SqlValue[] } {
  const { agentId, label, spawnedBy, activeSince, search, before, keyKind } = query;
  const conditions: [text: string, ...values: SqlValue[]][] = [];
  if (agentId !== undefined) conditions.push(["agent_id = ?", agentId]);
  if (keyKind !== undefined) conditions.push([`${kindOfKey} = ?`, keyKind]);
  if (label !== undefined) conditions.push(["label = ?", label]);
  if (spawnedBy !== undefined) conditions.push(["spawned_by = ?", spawnedBy]);
  if (activeSince !== undefined) conditions.push(["updated_at >= ?", activeSince]);
  if (search !== undefined && search !== "")
    conditions.push(["haystack LIKE ? ESCAPE '\\'", `%${escapeLike(toNeedle(search))}%`]);
  if (before !== undefined)
    conditions.push([
      "updated_at <= ? AND (updated_at < ? OR key > ?)",
      before.updatedAt,
      before.updatedAt,
      before.key,
    ]);
  if (conditions.length === 0) return { where: "", values: [] };
  return {
    where: `WHERE ${conditions.map(([condition]) => condition).join(" AND ")}`,
    values: conditions.flatMap(([, ...values]) => values),
  };
}

function toNeedle(word: string): string {
  return word.toLowerCase().replaceAll(border, " ");
}

function escapeLike(word: string): string {
  return word.replaceAll(/[\\%_]/g, String.raw`\$&`);
}

function toSession(row: SqlRow): SessionRecord {
  const entry = fromJson(row, "entry");
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) throw damaged("entry is not an object");
  return {
    key: text(row, "key") as SessionKey,
    agentId: text(row, "agent_id") as AgentId,
    sessionId: text(row, "session_id"),
    createdAt: number(row, "created_at"),
    updatedAt: number(row, "updated_at"),
    ...optionalText("label", row, "label"),
    ...(row["spawned_by"] === null ? {} : { spawnedBy: text(row, "spawned_by") as SessionKey }),
    entry: entry as Record<string, unknown>,
  };
}
