// Copies every readable record of a damaged store into a new one, and reports what is lost or may be lost.
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

import { syncFolder } from "../base/atomic-file.ts";
import { OpenClawError } from "../core/error.ts";
import { openForReading, openPlain, type Connection } from "./connection.ts";
import { toStoreError } from "./failure.ts";
import { migrateStore } from "./migrate.ts";
import { migrations } from "./migrations/list.ts";
import { createAttribution, type Attributed } from "./attribute.ts";
import { openPages, PAGE_BYTES, type RawPages } from "./pages.ts";
import { createPrivateFile, flushFile, removeStore, requireFile, requireRoom } from "./store-files.ts";
import { countByKey, countUnnamed, distrust, nameOf, readTable } from "./readable.ts";
import { isDamage, number, text } from "./row.ts";
import { sealOf } from "./seal.ts";
import { shapes, type Shape } from "./shapes.ts";
import { act, change, firstRow, rows, type Damage, type SqlRow, type SqlValue, type Steps } from "./sql.ts";
import { wholeFrames } from "./torn-log.ts";
import { newerStore, readVersion } from "./version.ts";

export interface Salvaged {
  /** Rows saved, by table. */
  readonly kept: Readonly<Record<string, number>>;
  /** Rows the store held, by table; "unknown" when neither the table nor its key index can be read to the end. */
  readonly expected: Readonly<Record<string, number | "unknown">>;
  /** Records that were there and could not be saved. */
  readonly lost: readonly Damage[];
  /** Why more may be missing than `lost` names. With both empty, all that the store held is saved. */
  readonly doubts: readonly string[];
  /** True when the pages that say where everything is had to be lent from a new store. */
  readonly contentsLent: boolean;
}

/** Reads `file` only. A lost transcript entry leaves a `damaged` one in its place, so that the others keep their numbers. */
export async function salvageStore(file: string, to: string): Promise<Salvaged> {
  requireFile(file);
  if (existsSync(to))
    throw new OpenClawError("store.exists", `${to} is already there`, {
      hint: "choose another name",
      details: { file: to },
    });
  const [source, fresh] = [`${to}.source`, `${to}.part`];
  let pages: RawPages | undefined;
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    requireRoom(file, dirname(to), 2);
    for (const rest of [source, fresh]) removeStore(rest);
    copySource(file, source);
    const version = readableVersion(source);
    createPrivateFile(fresh);
    migrateStore(fresh, { migrations: migrations.slice(0, version) });
    const contentsLent = version === undefined;
    // Before anything is lent: the old header knows how long the file was, and which of its pages are free.
    pages = openPages(source);
    if (contentsLent) lendContents(fresh, source);
    const saved = saveRows(source, fresh, pages);
    if (saved.doubts.length > 0 && Object.values(saved.kept).every((count) => count === 0)) throw unreadable(file);
    renameSync(fresh, to);
    syncFolder(dirname(to));
    return { ...saved, contentsLent };
  } catch (cause) {
    throw toStoreError(to, cause);
  } finally {
    pages?.close();
    for (const rest of [source, fresh]) removeStore(rest);
  }
}

function unreadable(file: string): OpenClawError {
  return new OpenClawError("store.unreadable", `no record can be read from ${file}: all that was in it is lost`, {
    hint: "restore a backup (openclaw store restore <file>), or move that file away to begin with an empty store",
    details: { file },
  });
}

/** A copy with its log folded in, so that the damaged store stays as it is for a second opinion. */
function copySource(file: string, source: string): void {
  for (const end of ["", "-wal"]) {
    if (!existsSync(file + end)) continue;
    createPrivateFile(source + end);
    copyFileSync(file + end, source + end);
  }
  if (existsSync(`${source}-wal`)) foldLog(source);
}

/** Done here and not by SQLite, which does not read the log of a file whose first page is damaged. */
function foldLog(source: string): void {
  const log = readFileSync(`${source}-wal`);
  withFile(source, "r+", (descriptor) => {
    for (const { page, at } of wholeFrames(log, PAGE_BYTES))
      writeSync(descriptor, log, at, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  });
  const pages = [...wholeFrames(log, PAGE_BYTES)].at(-1)?.pages;
  if (pages !== undefined) truncateSync(source, pages * PAGE_BYTES);
  rmSync(`${source}-wal`);
}

/** Undefined when the table of contents does not make sense any more. */
function readableVersion(file: string): number | undefined {
  try {
    const version = readVersion(file);
    if (version > migrations.length) throw newerStore(file, version, migrations.length);
    return version === 0 ? undefined : version;
  } catch (error) {
    if (isDamage(error) || (error instanceof OpenClawError && error.code === "store.foreign")) return undefined;
    throw error;
  }
}

/** Every store of one shape has its contents on the same first pages, so a new store's table of contents fits. */
function lendContents(fresh: string, damaged: string): void {
  for (const place of contentPagesOf(fresh)) {
    const page = readPage(fresh, place);
    if (place === 1) fitHeader(page, statSync(damaged).size);
    withFile(damaged, "r+", (descriptor) => writeSync(descriptor, page, 0, PAGE_BYTES, (place - 1) * PAGE_BYTES));
  }
}

function contentPagesOf(fresh: string): number[] {
  const connection = openForReading(fresh);
  try {
    return connection
      .run(rows("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'"))
      .map((row) => number(row, "pageno"));
  } finally {
    connection.close();
  }
}

function readPage(file: string, place: number): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  withFile(file, "r", (descriptor) => readSync(descriptor, page, 0, PAGE_BYTES, (place - 1) * PAGE_BYTES));
  return page;
}

/** https://www.sqlite.org/fileformat.html#the_database_header: the size in pages, no free pages, and that this holds. */
function fitHeader(page: Buffer, bytes: number): void {
  page.writeUInt32BE(Math.ceil(bytes / PAGE_BYTES), 28);
  page.writeUInt32BE(0, 32);
  page.writeUInt32BE(0, 36);
  page.writeUInt32BE(page.readUInt32BE(24), 92);
}

type Saved = Pick<Salvaged, "kept" | "expected" | "lost" | "doubts">;

interface Missing {
  readonly shape: Shape;
  /** As much of the row as is known. */
  readonly row: SqlRow;
  readonly damage: Damage;
}

/** First what the trees of the store still lead to; where one is broken, every leaf page of the file is read as it lies. */
function saveRows(source: string, fresh: string, pages: RawPages): Saved {
  const from = openForReading(source);
  const into = openPlain(fresh);
  try {
    into.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN");
    const known = shapes.filter(({ table }) => hasTable(into, table));
    const walks = known.map((shape) => walkTable(from, into, shape));
    const broken = walks.filter(({ isWhole }) => !isWhole);
    const stray = broken.length === 0 ? nothingStray : saveStrays(into, pages, known, broken);
    const missing = [...walks.flatMap((walk) => walk.missing), ...stray.missing].filter((one) => !isSaved(into, one));
    for (const { shape, row } of missing) into.run(keepPlace(shape, row));
    const holes = into.run(fillHoles());
    into.exec("COMMIT");
    const lost = [...missing.map(({ damage }) => damage), ...holes];
    return {
      kept: Object.fromEntries(known.map(({ table }) => [table, savedIn(into, table)])),
      expected: Object.fromEntries(walks.map(({ shape, expected }) => [shape.table, expected ?? ("unknown" as const)])),
      lost: distinct(lost),
      doubts: [
        ...walks.flatMap((walk) => doubtsOf(walk)),
        ...(broken.length === 0 ? [] : [...lengthDoubt(pages), ...stray.doubts]),
      ],
    };
  } finally {
    from.close();
    into.close();
    flushFile(fresh);
  }
}

interface Walk {
  readonly shape: Shape;
  /** The table could be read from end to end, and its key index knows as many rows. */
  readonly isWhole: boolean;
  /** What the key index counts, or a whole table holds. */
  readonly expected: number | undefined;
  /** Rows that can be read and whose names the key index does not know. */
  readonly unnamed: number;
  readonly missing: readonly Missing[];
}

function walkTable(from: Connection, into: Connection, shape: Shape): Walk {
  const missing: Missing[] = [];
  const reading = readTable(from, shape);
  let [step, seen] = [reading.next(), 0];
  for (; step.done !== true; step = reading.next()) {
    const { row, damage } = step.value;
    seen++;
    if (damage !== undefined) missing.push({ shape, row, damage });
    // A broken tree can lead to a row twice; the first one counts.
    else into.run(insert(shape, row));
  }
  const isClean = step.value;
  const counted = countByKey(from, shape);
  const expected = counted ?? (isClean ? seen : undefined);
  // A number alone may never have been given: only a name, or a gap in a numbered list, shows that a record was there.
  const named = missing.filter(({ row }) => counted !== undefined || Object.keys(row).some((column) => column !== "n"));
  const unnamed = counted === undefined ? 0 : (countUnnamed(from, shape) ?? 0);
  return { shape, isWhole: isClean && expected === seen, expected, unnamed, missing: named };
}

interface Strays {
  readonly missing: readonly Missing[];
  readonly doubts: readonly string[];
}
const nothingStray: Strays = { missing: [], doubts: [] };

/** Rows of broken tables, wherever in the file they lie. */
function saveStrays(into: Connection, pages: RawPages, known: readonly Shape[], broken: readonly Walk[]): Strays {
  const attribute = createAttribution(into, known);
  const isBroken = new Set(broken.map(({ shape }) => shape.table));
  const strays = new Set<string>();
  const missing: Missing[] = [];
  let [unreadRows, closed] = [0, 0];
  for (const found of pages.rows()) {
    if ("broken" in found) {
      unreadRows += found.broken;
      continue;
    }
    const stray = ownerOf(into, attribute(found), isBroken);
    if (stray === undefined) continue;
    const { shape } = stray;
    const row = pages.free === undefined ? closedWhenOpen(stray) : stray.row;
    if (row !== stray.row) closed++;
    const reason = distrust(shape, row);
    if (reason !== undefined)
      missing.push({ shape, row, damage: { table: shape.table, record: nameOf(shape, row), reason } });
    else if (saveStray(into, { shape, row }, strays)) strays.add(`${shape.table} ${row["n"]}`);
  }
  return {
    missing,
    doubts: [
      ...(unreadRows === 0
        ? []
        : [`${unreadRows} rows on damaged pages cannot be read; which ones is unknown unless they are named as lost`]),
      ...(closed === 0
        ? []
        : [
            `${closed} messages that had not begun are closed, not run: the list of free pages is damaged, so they may be old copies`,
          ]),
    ],
  };
}

/** The broken table it belongs to; undefined for a row of a whole table, which has been read already. */
function ownerOf(
  into: Connection,
  candidates: readonly Attributed[],
  broken: ReadonlySet<string>,
): Attributed | undefined {
  const isKnown = candidates.some(({ shape, row }) => !broken.has(shape.table) && isSaved(into, { shape, row }));
  return isKnown ? undefined : candidates.find(({ shape }) => broken.has(shape.table));
}

/** What may be an old copy must not make anything run again. */
function closedWhenOpen({ shape: { table }, row }: Attributed): SqlRow {
  return table === "letters" && !isEnded(row) ? { ...row, state: "failed", result: null } : row;
}

/** False when a better one is there: what the trees led to always is, among stray copies the later one. */
function saveStray(into: Connection, { shape, row }: Attributed, strays: ReadonlySet<string>): boolean {
  if (into.run(insert(shape, row)) > 0) return true;
  const rivals = into.run(
    rows(`SELECT * FROM ${shape.table} WHERE n = ? OR (${keyIs(shape)})`, [row["n"] ?? null, ...keyOf(shape, row)]),
  );
  if (!rivals.every((rival) => strays.has(`${shape.table} ${rival["n"]}`) && isLater(row, rival))) return false;
  for (const rival of rivals) into.run(act(`DELETE FROM ${shape.table} WHERE n = ?`, [rival["n"] ?? null]));
  return into.run(insert(shape, row)) > 0;
}

const isEnded = ({ state }: SqlRow): boolean => !["pending", "claimed", "running", "started"].includes(String(state));

function isLater(one: SqlRow, two: SqlRow): boolean {
  if (isEnded(one) !== isEnded(two)) return isEnded(one);
  const timeOf = (row: SqlRow): number =>
    Math.max(...["updated_at", "ended_at", "expires_at", "at"].map((column) => Number(row[column] ?? 0)));
  return timeOf(one) > timeOf(two);
}

const keyIs = ({ key }: Shape): string => key.map((column) => `${column} = ?`).join(" AND ");
const keyOf = ({ key }: Shape, row: SqlRow): SqlValue[] => key.map((column) => row[column] ?? null);

function isSaved(into: Connection, { shape, row }: Pick<Missing, "shape" | "row">): boolean {
  if (shape.key.some((column) => row[column] === undefined)) return false;
  return into.run(firstRow(`SELECT n FROM ${shape.table} WHERE ${keyIs(shape)}`, keyOf(shape, row))) !== undefined;
}

function hasTable(into: Connection, table: string): boolean {
  return into.value(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = '${table}'`) === table;
}

function savedIn(into: Connection, table: string): number {
  const placeholders = table === "transcript" ? " WHERE type <> 'damaged'" : "";
  return Number(into.value(`SELECT count(*) FROM ${table}${placeholders}`));
}

function doubtsOf({ shape: { table }, isWhole, expected, unnamed }: Walk): string[] {
  if (expected === undefined)
    return [`${table}: the table and its key index are damaged, so what it held cannot be counted`];
  if (!isWhole) return [`${table}: the table is damaged; only its key index says that it held ${expected} records`];
  return unnamed === 0 ? [] : [`${table}: ${unnamed} records have other names than the key index knows`];
}

function lengthDoubt({ count, expected }: RawPages): string[] {
  if (expected === undefined) return [];
  return expected > count ? [`the file ends ${expected - count} of ${expected} pages early`] : [];
}

/** A record can be named by the index, by its row and by the gap it leaves. */
function distinct(lost: readonly Damage[]): Damage[] {
  return [...new Map(lost.map((damage) => [`${damage.table} ${damage.record}`, damage])).values()];
}

/** A lost transcript entry whose number is known. */
function* keepPlace({ table }: Shape, row: SqlRow): Steps<void> {
  const { session_id: sessionId, seq } = row;
  if (table === "transcript" && typeof sessionId === "string" && typeof seq === "number")
    yield* writeDamaged(sessionId, seq);
}

function insert({ table }: Shape, row: SqlRow): Steps<number> {
  const columns = Object.keys(row);
  const marks = columns.map(() => "?").join(", ");
  return change(`INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${marks})`, Object.values(row));
}

// What is left are entries of which not even the number could be read.
const holes = `SELECT * FROM (
    SELECT session_id, seq, lag(seq, 1, 0) OVER (PARTITION BY session_id ORDER BY seq) AS before FROM transcript
  ) WHERE seq <> before + 1`;

/** Entries count without holes: each hole is one that was lost. */
function* fillHoles(): Steps<Damage[]> {
  const lost: Damage[] = [];
  for (const row of yield* rows(holes)) {
    const sessionId = text(row, "session_id");
    for (let seq = number(row, "before") + 1; seq < number(row, "seq"); seq++) {
      yield* writeDamaged(sessionId, seq);
      lost.push({ table: "transcript", record: `${sessionId} #${seq}`, reason: "its place in the file is damaged" });
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

function withFile(file: string, mode: "r" | "r+", use: (descriptor: number) => void): void {
  const descriptor = openSync(file, mode);
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
