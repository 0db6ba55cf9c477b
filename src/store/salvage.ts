// Saves every record of a damaged store that can still be read into a fresh one, and names what is lost.
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

import { syncFolder } from "../base/atomic-file.ts";
import { HouseError } from "../core/error.ts";
import { openForReading, openPlain, type Connection } from "./connection.ts";
import { toStoreError } from "./failure.ts";
import { migrateStore } from "./migrate.ts";
import { migrations } from "./migrations/list.ts";
import { createPrivateFile, flushFile, removeStore, requireRoom } from "./place.ts";
import { nameOf, readTable } from "./readable.ts";
import { isDamage, number, text } from "./row.ts";
import { sealOf } from "./seal.ts";
import { shapes, type Shape } from "./shapes.ts";
import { act, change, rows, type Damage, type SqlRow, type Steps } from "./sql.ts";
import { newerStore, readVersion } from "./version.ts";

const PAGE_BYTES = 4096;

export interface Salvaged {
  /** Rows saved, by table. */
  readonly kept: Readonly<Record<string, number>>;
  readonly lost: readonly Damage[];
  /** True when the pages that say where everything is had to be lent from a new store. */
  readonly contentsLent: boolean;
}

/** Reads `file` only. A lost transcript entry leaves a `damaged` one in its place, so that the others keep their numbers. */
export async function salvageStore(file: string, to: string): Promise<Salvaged> {
  if (!existsSync(file)) throw new HouseError("store.missing", `there is no store at ${file}`, { details: { file } });
  if (existsSync(to))
    throw new HouseError("store.exists", `${to} is already there`, {
      hint: "choose another name",
      details: { file: to },
    });
  const [source, fresh] = [`${to}.source`, `${to}.part`];
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    requireRoom(file, dirname(to), 2);
    for (const rest of [source, fresh]) removeStore(rest);
    copySource(file, source);
    const version = readableVersion(source);
    createPrivateFile(fresh);
    migrateStore(fresh, { migrations: migrations.slice(0, version) });
    const contentsLent = version === undefined;
    if (contentsLent) lendContents(fresh, source);
    const saved = copyRows(source, fresh);
    renameSync(fresh, to);
    syncFolder(dirname(to));
    return { ...saved, contentsLent };
  } catch (cause) {
    throw toStoreError(to, cause);
  } finally {
    for (const rest of [source, fresh]) removeStore(rest);
  }
}

/** A copy with its log, so that the damaged store stays as it is for a second opinion. */
function copySource(file: string, source: string): void {
  for (const end of ["", "-wal"]) {
    if (!existsSync(file + end)) continue;
    createPrivateFile(source + end);
    copyFileSync(file + end, source + end);
  }
}

/** Undefined when the table of contents does not make sense any more. */
function readableVersion(file: string): number | undefined {
  try {
    const version = readVersion(file);
    if (version > migrations.length) throw newerStore(file, version, migrations.length);
    return version === 0 ? undefined : version;
  } catch (error) {
    if (isDamage(error) || (error instanceof HouseError && error.code === "store.foreign")) return undefined;
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

function copyRows(source: string, fresh: string): Pick<Salvaged, "kept" | "lost"> {
  const from = openForReading(source);
  const into = openPlain(fresh);
  const kept: Record<string, number> = {};
  const lost: Damage[] = [];
  try {
    into.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN");
    for (const shape of shapes) {
      let saved = 0;
      for (const damage of copyTable(from, into, shape)) {
        if (damage === undefined) saved++;
        else lost.push(damage);
      }
      kept[shape.table] = saved;
    }
    into.run(fillHoles());
    into.exec("COMMIT");
  } finally {
    from.close();
    into.close();
  }
  flushFile(fresh);
  return { kept, lost };
}

/** For each row of the damaged store: undefined when it was saved, else why it was not. */
function* copyTable(from: Connection, into: Connection, shape: Shape): Generator<Damage | undefined> {
  for (const { row, damage } of readTable(from, shape)) {
    if (damage !== undefined) {
      into.run(keepPlace(shape, row));
      yield damage;
    } else if (into.run(insert(shape, row)) > 0) yield undefined;
    else yield { table: shape.table, record: nameOf(shape, row), reason: "another record has the same name" };
  }
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

function* fillHoles(): Steps<void> {
  for (const row of yield* rows(holes)) {
    const sessionId = text(row, "session_id");
    for (let seq = number(row, "before") + 1; seq < number(row, "seq"); seq++) yield* writeDamaged(sessionId, seq);
  }
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
  yield* act("INSERT INTO transcript (session_id, seq, id, type, at, body, seal) VALUES (?, ?, ?, ?, ?, ?, ?)", values);
}

function withFile(file: string, mode: "r" | "r+", use: (descriptor: number) => void): void {
  const descriptor = openSync(file, mode);
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
