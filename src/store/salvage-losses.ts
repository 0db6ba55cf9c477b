// Decides which damaged records are proven to have existed, and keeps the numbers of lost transcript entries.
import type { Connection } from "./connection.ts";
import { number, text } from "./row.ts";
import { sealOf } from "./seal.ts";
import type { Shape } from "./shapes.ts";
import { act, firstRow, rows, type Damage, type SqlRow, type SqlValue, type Steps } from "./sql.ts";

export interface Missing {
  readonly shape: Shape;
  /** The known columns of the row. They can be damaged themselves. */
  readonly row: SqlRow;
  readonly damage: Damage;
}

/**
 * Once all readable records are saved: the lost ones. Each lost transcript entry gets a placeholder, so that the others
 * keep their numbers.
 */
export function settleLosses(into: Connection, missing: readonly Missing[]): Damage[] {
  const open = missing.filter((one) => !isSaved(into, one) && !isSavedByNumber(into, one));
  const entries = proveEntries(
    into,
    open.filter(({ shape }) => shape.table === "transcript"),
  );
  for (const { row } of entries) into.run(writeDamaged(text(row, "session_id"), number(row, "seq")));
  const others = open.filter(({ shape }) => shape.table !== "transcript");
  return distinct([...others, ...entries]).concat(into.run(fillHoles()));
}

export const keyIs = ({ key }: Shape): string => key.map((column) => `${column} = ?`).join(" AND ");
export const keyOf = ({ key }: Shape, row: SqlRow): SqlValue[] => key.map((column) => row[column] ?? null);

export function isSaved(into: Connection, { shape, row }: Pick<Missing, "shape" | "row">): boolean {
  if (shape.key.some((column) => row[column] === undefined)) return false;
  return into.run(firstRow(`SELECT n FROM ${shape.table} WHERE ${keyIs(shape)}`, keyOf(shape, row))) !== undefined;
}

/** The row itself is saved, so another key for it is a damaged key. */
function isSavedByNumber(into: Connection, { shape, row }: Missing): boolean {
  const { n } = row;
  return n !== undefined && into.run(firstRow(`SELECT n FROM ${shape.table} WHERE n = ?`, [n])) !== undefined;
}

/**
 * The key of a damaged entry can be any text and any number. Entries are numbered from 1 without gaps, so a key is
 * proven when its session is known and all numbers before it existed.
 */
function proveEntries(into: Connection, missing: readonly Missing[]): Missing[] {
  const sessions = Map.groupBy(missing, ({ row }) => row["session_id"]);
  return [...sessions].flatMap(([sessionId, claims]) => {
    if (typeof sessionId !== "string") return [];
    const bySeq = new Map(claims.map((claim) => [claim.row["seq"], claim]));
    const last = lastSavedOf(into, sessionId);
    // Damage does not write the same wrong id twice with consecutive numbers.
    const isKnown = last > 0 || hasSession(into, sessionId) || (bySeq.has(1) && bySeq.has(2));
    let end = last;
    while (isKnown && bySeq.has(end + 1)) end++;
    return [...bySeq.values()].filter(
      ({ row: { seq } }) => Number.isInteger(seq) && Number(seq) > 0 && Number(seq) <= end,
    );
  });
}

function lastSavedOf(into: Connection, sessionId: string): number {
  const found = into.run(firstRow("SELECT max(seq) AS last FROM transcript WHERE session_id = ?", [sessionId]));
  return Number(found?.["last"] ?? 0);
}

function hasSession(into: Connection, sessionId: string): boolean {
  return into.run(firstRow("SELECT n FROM sessions WHERE session_id = ?", [sessionId])) !== undefined;
}

/** A record can be named by the index, by its row and by a page; two names of one row are one record. */
function distinct(missing: readonly Missing[]): Damage[] {
  const byName = new Map(missing.map((one) => [`${one.damage.table} ${one.damage.record}`, one]));
  const byNumber = new Map([...byName].map(([name, one]) => [`${one.damage.table} ${one.row["n"] ?? name}`, one]));
  return [...byNumber.values()].map(({ damage }) => damage);
}

// The remaining entries have not even a readable number.
const holes = `SELECT * FROM (
    SELECT session_id, seq, lag(seq, 1, 0) OVER (PARTITION BY session_id ORDER BY seq) AS before FROM transcript
  ) WHERE seq <> before + 1`;

/** Entry numbers are consecutive: each gap before a valid entry is a lost entry. */
function* fillHoles(): Steps<Damage[]> {
  const lost: Damage[] = [];
  for (const row of yield* rows(holes)) {
    const sessionId = text(row, "session_id");
    for (let seq = number(row, "before") + 1; seq < number(row, "seq"); seq++) {
      yield* writeDamaged(sessionId, seq);
      lost.push({ table: "transcript", record: `${sessionId} #${seq}`, reason: "its page in the file is damaged" });
    }
  }
  return lost;
}

function* writeDamaged(sessionId: string, seq: number): Steps<void> {
  const [id, type, at, body] = [
    `damaged-${seq}`,
    "damaged",
    0,
    JSON.stringify({ reason: "lost when the store was salvaged" }),
  ];
  const seal = sealOf({ sessionId, seq, id, type, at, body });
  const values = [sessionId, seq, id, type, at, body, seal];
  yield* act(
    "INSERT OR IGNORE INTO transcript (session_id, seq, id, type, at, body, seal) VALUES (?, ?, ?, ?, ?, ?, ?)",
    values,
  );
}
