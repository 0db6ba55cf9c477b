// The table of transcripts: append-only entries, numbered within their session and protected by a checksum.
import { damaged, fromJson, isDamage, number, reasonOf, text, toJson } from "../row.ts";
import { sealOf, type Sealed } from "../seal.ts";
import { act, firstRow, rows, type ReportDamage, type Sql, type SqlRow, type Steps } from "../sql.ts";
import type { StoredEntry, TranscriptTable } from "../store.ts";

const columns = "seq, id, type, at, body, seal";
const lastSeqOf = "SELECT max(seq) AS last FROM transcript WHERE session_id = ?";

export function createTranscript(sql: Sql, report: ReportDamage): TranscriptTable {
  return {
    async append(sessionId, entries) {
      const texts = entries.map(({ id, type, at, body }) => ({ id, type, at, body: toJson(body) }));
      return sql.write(() => appendAll(sessionId, texts), { durable: true });
    },
    tail: (sessionId, limit, before) =>
      sql.read(function* () {
        try {
          return (yield* readTail(sessionId, limit, before)).map((row) => toEntry(sessionId, row, report));
        } catch (error) {
          if (!isDamage(error)) throw error;
          return yield* readTailPiecewise(sessionId, limit, before, report);
        }
      }),
    // Entries are numbered from 1 without gaps, so the last number is the count.
    count: (sessionId) => sql.read(() => readLastSeq(sessionId)),
  };
}

function* appendAll(sessionId: string, entries: readonly Omit<Sealed, "sessionId" | "seq">[]): Steps<number> {
  const last = yield* readLastSeq(sessionId);
  for (const [index, { id, type, at, body }] of entries.entries()) {
    const seq = last + index + 1;
    const seal = sealOf({ sessionId, seq, id, type, at, body });
    yield* act("INSERT INTO transcript (session_id, seq, id, type, at, body, seal) VALUES (?, ?, ?, ?, ?, ?, ?)", [
      sessionId,
      seq,
      id,
      type,
      at,
      body,
      seal,
    ]);
  }
  return last + entries.length;
}

function* readLastSeq(sessionId: string): Steps<number> {
  const found = yield* firstRow(lastSeqOf, [sessionId]);
  return found === undefined || found["last"] === null ? 0 : number(found, "last");
}

function* readTail(sessionId: string, limit: number, before: number | undefined): Steps<SqlRow[]> {
  const below = before === undefined ? "" : "AND seq < ?";
  const found = yield* rows(
    `SELECT ${columns} FROM transcript WHERE session_id = ? ${below} ORDER BY seq DESC LIMIT ?`,
    before === undefined ? [sessionId, limit] : [sessionId, before, limit],
  );
  return found.toReversed();
}

/** A bad page fails a whole query but not its neighbors, so each entry is read alone. */
function* readTailPiecewise(
  sessionId: string,
  limit: number,
  before: number | undefined,
  report: ReportDamage,
): Steps<StoredEntry[]> {
  const end = Math.min(yield* readLastSeq(sessionId), (before ?? Infinity) - 1);
  const found: StoredEntry[] = [];
  for (let seq = Math.max(1, end - limit + 1); seq <= end; seq++) {
    found.push(yield* readAlone(sessionId, seq, report));
  }
  return found;
}

function* readAlone(sessionId: string, seq: number, report: ReportDamage): Steps<StoredEntry> {
  try {
    const row = yield* firstRow(`SELECT ${columns} FROM transcript WHERE session_id = ? AND seq = ?`, [sessionId, seq]);
    if (row !== undefined) return toEntry(sessionId, row, report);
    return lost(sessionId, seq, "it is missing", report);
  } catch (error) {
    if (!isDamage(error)) throw error;
    return lost(sessionId, seq, reasonOf(error), report);
  }
}

function toEntry(sessionId: string, row: SqlRow, report: ReportDamage): StoredEntry {
  const seq = number(row, "seq");
  try {
    const [id, type, at, body] = [text(row, "id"), text(row, "type"), number(row, "at"), row["body"] as string | null];
    if (row["seal"] !== sealOf({ sessionId, seq, id, type, at, body })) throw damaged("its checksum does not match");
    return { id, type, at, body: fromJson(row, "body"), seq };
  } catch (error) {
    return lost(sessionId, seq, reasonOf(error), report);
  }
}

/** Takes the place of an unreadable entry, so that the others keep their numbers. */
function lost(sessionId: string, seq: number, reason: string, report: ReportDamage): StoredEntry {
  report({ table: "transcript", record: `${sessionId} #${seq}`, reason });
  return { id: `damaged-${seq}`, type: "damaged", at: 0, body: { reason }, seq };
}
