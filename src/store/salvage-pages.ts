// Saves rows of broken tables from the pages of a damaged file; without a complete list of free pages, only rows that are
// proven not to be deleted.
import { createAttribution, type Attributed } from "./attribute.ts";
import type { Connection } from "./connection.ts";
import type { RawPages } from "./pages.ts";
import { distrust, nameOf, readNames } from "./readable.ts";
import { isSaved, keyIs, keyOf, type Missing } from "./salvage-losses.ts";
import type { Shape } from "./shapes.ts";
import { act, change, rows, type SqlRow } from "./sql.ts";

export interface Strays {
  readonly missing: readonly Missing[];
  readonly doubts: readonly string[];
  /** Copies of saved records that were not saved again, by table. */
  readonly duplicates: Readonly<Record<string, number>>;
}

export interface StrayOptions {
  readonly from: Connection;
  readonly into: Connection;
  readonly pages: RawPages;
  /** All tables of the store. */
  readonly known: readonly Shape[];
  /** Tables that could not be read completely. */
  readonly broken: readonly Shape[];
  /** Also saves rows that may have been deleted. */
  readonly uncertain: boolean;
}

export function saveStrays(options: StrayOptions): Strays {
  const { from, into, pages, known, broken, uncertain } = options;
  const attribute = createAttribution(into, known);
  const isBroken = new Set(broken.map(({ table }) => table));
  const isProven = pages.isFreeListWhole || uncertain ? () => true : createProof(from, into, broken);
  const saver = createSaver(into, pages.isFreeListWhole);
  const unproven: Attributed[] = [];
  let unreadRows = 0;
  for (const found of pages.rows()) {
    if ("broken" in found) {
      unreadRows += found.broken;
      continue;
    }
    const stray = ownerOf(into, attribute(found), isBroken);
    if (stray === undefined) continue;
    if (isProven(stray)) saver.save(stray);
    else unproven.push(stray);
  }
  // A session that was found on a later page proves its transcript.
  const isProvenNow = unproven.length === 0 ? isProven : createProof(from, into, broken);
  for (const stray of unproven.filter((one) => isProvenNow(one))) saver.save(stray);
  const left = unproven.filter((one) => !isProvenNow(one)).length;
  return {
    missing: saver.missing,
    duplicates: saver.duplicates,
    doubts: [
      ...(unreadRows === 0
        ? []
        : [`${unreadRows} rows on damaged pages cannot be read; which ones is unknown unless they are listed as lost`]),
      ...(left === 0
        ? []
        : [
            `${left} rows are not saved, because they may have been deleted: the list of free pages and the key index are damaged (--uncertain saves them)`,
          ]),
      ...saver.doubts(),
    ],
  };
}

/** The broken table it belongs to; undefined for a row of a complete table, which was already read. */
function ownerOf(
  into: Connection,
  candidates: readonly Attributed[],
  broken: ReadonlySet<string>,
): Attributed | undefined {
  const isKnown = candidates.some(({ shape, row }) => !broken.has(shape.table) && isSaved(into, { shape, row }));
  return isKnown ? undefined : candidates.find(({ shape }) => broken.has(shape.table));
}

/**
 * Whether a record existed to the end. The key index names it; for a transcript entry any trace of its session is
 * enough, because entries are deleted only together with all others of their session.
 */
function createProof(from: Connection, into: Connection, broken: readonly Shape[]): (stray: Attributed) => boolean {
  const keys = new Set<string>();
  const sessions = new Set<unknown>();
  for (const shape of broken)
    for (const row of readNames(from, shape).names.values()) {
      keys.add(`${shape.table} ${nameOf(shape, row)}`);
      if (shape.table === "transcript") sessions.add(row["session_id"]);
    }
  for (const row of into.run(rows("SELECT session_id FROM sessions UNION SELECT session_id FROM transcript")))
    sessions.add(row["session_id"]);
  return ({ shape, row }) =>
    shape.table === "transcript" ? sessions.has(row["session_id"]) : keys.has(`${shape.table} ${nameOf(shape, row)}`);
}

interface Saver {
  readonly missing: Missing[];
  readonly duplicates: Record<string, number>;
  save(stray: Attributed): void;
  doubts(): string[];
}

function createSaver(into: Connection, isFreeListWhole: boolean): Saver {
  const strays = new Set<string>();
  const missing: Missing[] = [];
  const duplicates: Record<string, number> = {};
  let [closed, maybeOld] = [0, 0];
  return {
    missing,
    duplicates,
    save(stray) {
      const { shape } = stray;
      const row = isFreeListWhole ? stray.row : closedWhenOpen(stray);
      const reason = distrust(shape, row);
      if (reason !== undefined) {
        missing.push({ shape, row, damage: { table: shape.table, record: nameOf(shape, row), reason } });
        return;
      }
      const { n, dropped } = saveStray(into, { shape, row }, strays);
      if (dropped) duplicates[shape.table] = (duplicates[shape.table] ?? 0) + 1;
      if (n === undefined) return;
      strays.add(`${shape.table} ${n}`);
      if (row !== stray.row) closed++;
      // A transcript entry never changes.
      else if (!isFreeListWhole && shape.table !== "transcript") maybeOld++;
    },
    doubts: () => [
      ...(closed === 0
        ? []
        : [
            `${closed} messages that had not started are closed, not run: the list of free pages is damaged, so they may be old copies`,
          ]),
      ...(maybeOld === 0
        ? []
        : [`${maybeOld} records may be older versions, because the list of free pages is damaged`]),
    ],
  };
}

/** A possible old copy must not start a run. */
function closedWhenOpen({ shape: { table }, row }: Attributed): SqlRow {
  return table === "letters" && !isEnded(row) ? { ...row, state: "failed", result: null } : row;
}

/** Rows found through the trees win, then the later of two stray copies. `n`: its number when it was saved. */
function saveStray(
  into: Connection,
  { shape, row }: Attributed,
  strays: ReadonlySet<string>,
): { readonly n: number | undefined; readonly dropped: boolean } {
  const rival = into.run(rows(`SELECT * FROM ${shape.table} WHERE ${keyIs(shape)}`, keyOf(shape, row)))[0];
  if (rival === undefined) return { n: saveRow(into, shape, row), dropped: false };
  const isSame = Object.entries(row).every(([column, value]) => rival[column] === value);
  if (isSame) return { n: undefined, dropped: false };
  if (!strays.has(`${shape.table} ${rival["n"]}`) || !isLater(row, rival)) return { n: undefined, dropped: true };
  into.run(act(`DELETE FROM ${shape.table} WHERE n = ?`, [rival["n"] ?? null]));
  return { n: saveRow(into, shape, row), dropped: true };
}

/** Under a new number when its own one is taken: one of the two is damaged. Undefined when its key is saved already. */
export function saveRow(into: Connection, shape: Shape, row: SqlRow): number | undefined {
  const columns = Object.keys(row);
  const insert = `INSERT OR IGNORE INTO ${shape.table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
  for (const n of [row["n"] ?? null, null])
    if (into.run(change(insert, Object.values({ ...row, n }))) > 0)
      return Number(n ?? into.value("SELECT last_insert_rowid()"));
  return undefined;
}

const isEnded = ({ state }: SqlRow): boolean => !["pending", "claimed", "running", "started"].includes(String(state));

function isLater(one: SqlRow, two: SqlRow): boolean {
  if (isEnded(one) !== isEnded(two)) return isEnded(one);
  const timeOf = (row: SqlRow): number =>
    Math.max(...["updated_at", "ended_at", "expires_at", "at"].map((column) => Number(row[column] ?? 0)));
  return timeOf(one) > timeOf(two);
}
