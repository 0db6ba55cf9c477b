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
import { openPages, PAGE_BYTES, type RawPages } from "./pages.ts";
import { createPrivateFile, flushFile, removeStore, requireFile, requireRoom } from "./store-files.ts";
import { countByKey, countUnnamed, readTable } from "./readable.ts";
import { isDamage, number } from "./row.ts";
import { settleLosses, type Missing } from "./salvage-losses.ts";
import { saveRow, saveStrays, type Strays } from "./salvage-pages.ts";
import { shapes, type Shape } from "./shapes.ts";
import { rows, type Damage } from "./sql.ts";
import { commitsBehindDamage, wholeFrames } from "./torn-log.ts";
import { newerStore, readVersion } from "./version.ts";

export interface Salvaged {
  /** Saved rows by table. */
  readonly kept: Readonly<Record<string, number>>;
  /** Rows in the store by table; "unknown" when neither the table nor its key index can be read completely. */
  readonly expected: Readonly<Record<string, number | "unknown">>;
  /** Other copies of saved records, which were dropped, by table. */
  readonly duplicates: Readonly<Record<string, number>>;
  /** Records that existed and could not be saved. */
  readonly lost: readonly Damage[];
  /** Why more records than `lost` may be missing. With both empty, every record is saved. */
  readonly doubts: readonly string[];
  /** True when the schema pages were damaged and were replaced by those of a new store. */
  readonly contentsLent: boolean;
}

export interface SalvageOptions {
  /** Also saves rows that may have been deleted, because the damage hides whether they were. */
  readonly uncertain?: boolean;
}

/** Only reads `file`. A lost transcript entry is replaced by a `damaged` one, so that the others keep their numbers. */
export async function salvageStore(file: string, to: string, options: SalvageOptions = {}): Promise<Salvaged> {
  requireFile(file);
  if (existsSync(to))
    throw new OpenClawError("store.exists", `${to} already exists`, {
      hint: "name another file: openclaw store salvage <file>",
      details: { file: to },
    });
  const [source, fresh] = [`${to}.source`, `${to}.part`];
  let pages: RawPages | undefined;
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    requireRoom(file, dirname(to), 2);
    for (const rest of [source, fresh]) removeStore(rest);
    const logDoubts = copySource(file, source);
    const version = readableVersion(source);
    createPrivateFile(fresh);
    migrateStore(fresh, { migrations: migrations.slice(0, version) });
    const contentsLent = version === undefined || !hasSameSchema(source, fresh);
    if (contentsLent && version !== undefined && version > migrations.length)
      throw newerStore(file, version, migrations.length);
    // Read before the header is replaced: the old header has the length of the file and its free pages.
    pages = openPages(source);
    if (contentsLent) lendContents(fresh, source);
    const saved = saveRows(source, fresh, pages, options);
    const doubts = [...logDoubts, ...saved.doubts];
    if (doubts.length > 0 && Object.values(saved.kept).every((count) => count === 0)) throw unreadable(file, doubts);
    renameSync(fresh, to);
    syncFolder(dirname(to));
    return { ...saved, doubts, contentsLent };
  } catch (cause) {
    throw toStoreError(to, cause);
  } finally {
    pages?.close();
    for (const rest of [source, fresh]) removeStore(rest);
  }
}

function unreadable(file: string, doubts: readonly string[]): OpenClawError {
  return new OpenClawError("store.unreadable", `no record can be saved from ${file}: ${doubts.join("; ")}`, {
    hint: "restore a backup (openclaw store restore <file>), or move that file away to start with an empty store",
    details: { file },
  });
}

/** A copy with its log applied, so that the damaged store stays unchanged. Returns doubts about the log. */
function copySource(file: string, source: string): string[] {
  for (const end of ["", "-wal"]) {
    if (!existsSync(file + end)) continue;
    createPrivateFile(source + end);
    copyFileSync(file + end, source + end);
  }
  return existsSync(`${source}-wal`) ? foldLog(source) : [];
}

/** Done here because SQLite does not read the log of a file whose first page is damaged. */
function foldLog(source: string): string[] {
  const log = readFileSync(`${source}-wal`);
  withFile(source, "r+", (descriptor) => {
    for (const { page, at } of wholeFrames(log, PAGE_BYTES))
      writeSync(descriptor, log, at, PAGE_BYTES, (page - 1) * PAGE_BYTES);
  });
  const pages = [...wholeFrames(log, PAGE_BYTES)].at(-1)?.pages;
  if (pages !== undefined) truncateSync(source, pages * PAGE_BYTES);
  rmSync(`${source}-wal`);
  const commits = commitsBehindDamage(log, PAGE_BYTES);
  return commits === 0 ? [] : [`the log is damaged: the changes of its last ${commits} commits are not applied`];
}

/** Undefined when the schema is not readable. */
function readableVersion(file: string): number | undefined {
  try {
    const version = readVersion(file);
    return version === 0 ? undefined : version;
  } catch (error) {
    if (isDamage(error) || (error instanceof OpenClawError && error.code === "store.foreign")) return undefined;
    throw error;
  }
}

/** Damaged bytes of a schema can still be valid SQL with other names, and a damaged version another number. */
function hasSameSchema(source: string, fresh: string): boolean {
  const [found, wanted] = [schemaOf(source), schemaOf(fresh)];
  return found !== undefined && found === wanted;
}

function schemaOf(file: string): string | undefined {
  const connection = openForReading(file);
  try {
    const question = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema ORDER BY rootpage, name";
    return JSON.stringify(connection.run(rows(question)));
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  } finally {
    connection.close();
  }
}

/** All stores of one schema version have their roots on the same first pages, so the schema of a new store fits. */
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

/**
 * https://www.sqlite.org/fileformat.html#the_database_header: size in pages, no free pages, and the mark that both are
 * valid.
 */
function fitHeader(page: Buffer, bytes: number): void {
  page.writeUInt32BE(Math.ceil(bytes / PAGE_BYTES), 28);
  page.writeUInt32BE(0, 32);
  page.writeUInt32BE(0, 36);
  page.writeUInt32BE(page.readUInt32BE(24), 92);
}

type Saved = Omit<Salvaged, "contentsLent">;

/** First reads through the trees of the store; for a broken tree, reads every leaf page of the file. */
function saveRows(source: string, fresh: string, pages: RawPages, { uncertain = false }: SalvageOptions): Saved {
  const from = openForReading(source);
  const into = openPlain(fresh);
  try {
    into.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN");
    const known = shapes.filter(({ table }) => hasTable(into, table));
    const walks = known.map((shape) => walkTable(from, into, shape));
    const broken = walks.filter(({ isWhole }) => !isWhole).map(({ shape }) => shape);
    const strays = broken.length === 0 ? noStrays : saveStrays({ from, into, pages, known, broken, uncertain });
    // An earlier salvage left placeholders; what they stand for was lost then.
    const lostBefore = countDamaged(into);
    const lost = settleLosses(into, [...walks.flatMap((walk) => walk.missing), ...strays.missing]);
    into.exec("COMMIT");
    const tallies = walks.map((walk) => tally(into, walk, lost, lostBefore));
    const byTable = <T>(valueOf: (one: Tally) => T): Record<string, T> =>
      Object.fromEntries(tallies.map((one) => [one.walk.shape.table, valueOf(one)]));
    return {
      kept: byTable(({ kept }) => kept),
      expected: byTable(({ expected }) => expected ?? ("unknown" as const)),
      duplicates: byTable(({ walk }) => walk.duplicates + (strays.duplicates[walk.shape.table] ?? 0)),
      lost,
      doubts: [
        ...tallies.flatMap((one) => doubtsOf(one)),
        ...(broken.length === 0 ? [] : [...lengthDoubt(pages), ...strays.doubts]),
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
  /** The whole table could be read, and its key index has the same number of rows. */
  readonly isWhole: boolean;
  /** Number of rows by the key index, or by a complete table. */
  readonly expected: number | undefined;
  /** Readable rows whose keys are not in the key index. */
  readonly unnamed: number;
  /** Rows whose key was saved already. */
  readonly duplicates: number;
  readonly missing: readonly Missing[];
}

function walkTable(from: Connection, into: Connection, shape: Shape): Walk {
  const missing: Missing[] = [];
  const reading = readTable(from, shape);
  let [step, seen, duplicates] = [reading.next(), 0, 0];
  for (; step.done !== true; step = reading.next()) {
    const { row, damage } = step.value;
    seen++;
    if (damage !== undefined) missing.push({ shape, row, damage });
    // A broken tree can contain a row twice; the first one counts.
    else if (saveRow(into, shape, row) === undefined) duplicates++;
  }
  const isClean = step.value && duplicates === 0;
  const counted = countByKey(from, shape);
  const expected = counted ?? (isClean ? seen : undefined);
  // A row number alone may never have been used: only a key, or a gap in a numbered list, proves that a record existed.
  const named = missing.filter(({ row }) => counted !== undefined || Object.keys(row).some((column) => column !== "n"));
  const unnamed = counted === undefined ? 0 : (countUnnamed(from, shape) ?? 0);
  return { shape, isWhole: isClean && expected === seen, expected, unnamed, duplicates, missing: named };
}

const noStrays: Strays = { missing: [], doubts: [], duplicates: {} };

interface Tally {
  readonly walk: Walk;
  readonly kept: number;
  /** Undefined when unknown, also when more records are proven than the key index has. */
  readonly expected: number | undefined;
  /** Records that are lost without a name. */
  readonly nameless: number;
}

function tally(into: Connection, walk: Walk, lost: readonly Damage[], lostBefore: number): Tally {
  const { table } = walk.shape;
  const isTranscript = table === "transcript";
  const kept = Number(into.value(`SELECT count(*) FROM ${table}${isTranscript ? " WHERE type <> 'damaged'" : ""}`));
  const proven = kept + lost.filter((one) => one.table === table).length;
  const expected = walk.expected === undefined ? undefined : walk.expected - (isTranscript ? lostBefore : 0);
  if (expected === undefined || expected < proven) return { walk, kept, expected: undefined, nameless: 0 };
  return { walk, kept, expected, nameless: expected - proven };
}

function hasTable(into: Connection, table: string): boolean {
  return into.value(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name = '${table}'`) === table;
}

function countDamaged(into: Connection): number {
  return Number(into.value("SELECT count(*) FROM transcript WHERE type = 'damaged'"));
}

function doubtsOf({ walk: { shape, isWhole, unnamed }, expected, nameless }: Tally): string[] {
  const { table } = shape;
  if (expected === undefined)
    return [`${table}: the table and its key index are damaged, so the number of its records is unknown`];
  const more = nameless === 0 ? [] : [`${table}: ${nameless} more records are lost, and their names are damaged`];
  if (!isWhole) return [`${table}: the table is damaged; by its key index alone it had ${expected} records`, ...more];
  return unnamed === 0 ? more : [`${table}: ${unnamed} records have keys that are not in the key index`, ...more];
}

function lengthDoubt({ count, expected }: RawPages): string[] {
  if (expected === undefined) return [];
  return expected > count ? [`the file is truncated by ${expected - count} of ${expected} pages`] : [];
}

function withFile(file: string, mode: "r" | "r+", use: (descriptor: number) => void): void {
  const descriptor = openSync(file, mode);
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
