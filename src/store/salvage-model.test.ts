// Salvage against a model of what existed: random stores with deleted and reset sessions, random damage.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";

import { fillStore, newStoreFile } from "./cases/files.cases.ts";
import { keyOf, newSession } from "./cases/sample.ts";
import { nameOf } from "./readable.ts";
import { salvageStore, type Salvaged } from "./salvage.ts";
import { shapes } from "./shapes.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { SqlRow } from "./sql.ts";
import { verifyStore } from "./verify.ts";

const PAGE = 4096;
const ROUNDS = Number(process.env["OPENCLAW_SALVAGE_ROUNDS"] ?? 24);
const ROUNDS_PER_STORE = 8;

describe("salvage of a store with deleted and reset sessions", () => {
  test("saves no record that did not exist, none twice, none changed, and reports the real loss", async () => {
    let model: Model | undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const random = createRandom(round + 1);
      if (model === undefined || round % ROUNDS_PER_STORE === 0) model = await newModel(random);
      const file = copyOf(model, random.below(2) === 0);
      const damage = damages[round % damages.length] ?? somePages;
      damage(file, random, model);
      await check(file, model, `round ${round}, ${damage.name}`);
    }
  });

  test("does not bring back deleted records when the list of free pages is lost", async () => {
    const random = createRandom(7);
    const model = await newModel(random);
    for (const table of ["transcript", "letters", "sessions", "kv", "journal"]) {
      const file = copyOf(model, false);
      wipe(file, random, [model.trunk, ...pagesOf(model.file, `name IN ('${table}', '${table}_key') AND path = '/'`)]);
      await check(file, model, table);
    }
  });

  test("saves uncertain rows on request, and says how many it left out otherwise", async () => {
    const random = createRandom(9);
    const model = await newModel(random);
    const file = copyOf(model, false);
    const inner = pagesOf(model.file, "name = 'sessions' AND pagetype = 'internal'");
    assert.ok(inner.length > 0);
    wipe(file, random, [model.trunk, ...inner, ...pagesOf(model.file, "name = 'sessions_key'")]);
    const careful = await salvageStore(file, `${file}.careful`);
    assert.match(careful.doubts.join("\n"), /\d+ rows are not saved, because they may have been deleted/);
    const all = await salvageStore(file, `${file}.all`, { uncertain: true });
    const names = Object.keys(recordsOf(`${file}.all`)["sessions"] ?? {});
    for (const name of Object.keys(model.truth["sessions"] ?? {})) assert.ok(names.includes(name), name);
    assert.ok(Number(all.kept["sessions"]) > Number(careful.kept["sessions"]));
  });

  test("does not count the placeholders of an earlier salvage as lost again", async () => {
    const random = createRandom(11);
    const model = await newModel(random);
    const file = copyOf(model, false);
    wipe(file, random, pagesOf(model.file, "name = 'transcript' AND pagetype = 'leaf'").slice(4, 6));
    const first = await salvageStore(file, `${file}.first`);
    assert.ok(first.lost.length > 0);
    const second = await salvageStore(`${file}.first`, `${file}.second`);
    assert.deepEqual([second.kept, second.lost, second.doubts], [first.kept, [], []]);
    assert.deepEqual(second.expected, second.kept);
  });
});

async function check(file: string, model: Model, label: string): Promise<void> {
  const report = await salvageStore(file, `${file}.saved`).catch((error: { code?: string }) => error);
  if ("code" in report) return assert.equal(report.code, "store.unreadable", label);
  const salvaged = report as Salvaged;
  const saved = recordsOf(`${file}.saved`);
  for (const { table } of shapes) {
    const [found, truth] = [saved[table] ?? {}, model.truth[table] ?? {}];
    const { length } = Object.keys(found);
    const [total, at] = [Object.keys(truth).length, `${label}: ${table}`];
    assert.equal(salvaged.kept[table], length, `${at}: as many as reported`);
    const back = Object.keys(found).filter((name) => model.deleted[table]?.has(name) === true);
    assert.deepEqual(back, [], `${at}: deleted records stay deleted`);
    const lost = salvaged.lost.filter((one) => one.table === table).map(({ record }) => record);
    assert.equal(new Set(lost).size, lost.length, `${at}: each loss is reported once`);
    assert.deepEqual(
      lost.filter((name) => name in found),
      [],
      `${at}: not both lost and saved`,
    );
    if (salvaged.doubts.length === 0) assert.equal(length + lost.length, total, `${at}: complete`);
    // A checksum protects entries only; other records can change within their text.
    if (table !== "transcript") continue;
    for (const [name, record] of Object.entries(found)) assert.equal(record, truth[name], `${at} ${name}`);
    assert.deepEqual(
      lost.filter((name) => !(name in truth)),
      [],
      `${at}: lost entries existed`,
    );
    assert.deepEqual(placeholdersOf(`${file}.saved`), lost.toSorted(), `${at}: one placeholder for each lost entry`);
    const expected = salvaged.expected[table];
    if (expected !== "unknown") assert.equal(Number(expected) - length, total - length, `${at}: the reported loss`);
  }
  assert.equal((await verifyStore(`${file}.saved`)).ok, true, label);
}

type Records = Record<string, Record<string, string>>;

interface Model {
  /** The closed store. */
  readonly file: string;
  /** The same store as a killed gateway leaves it, with its log. */
  readonly open: string;
  readonly truth: Records;
  readonly deleted: Record<string, ReadonlySet<string>>;
  /** The first page of the list of free pages. */
  readonly trunk: number;
}

async function newModel(random: Random): Promise<Model> {
  const [file, open] = [newStoreFile(), newStoreFile()];
  let store = await openSqliteStore({ file });
  const sessions = 20 + random.below(12);
  await fillStore(store, { sessions, entries: 15 + random.below(30) });
  for (let round = 0; round < 60; round++)
    await store.sessions.put(
      newSession({ key: keyOf(`many-${round}`), sessionId: `many-${round}`, label: "x".repeat(300) }),
    );
  await store.close();
  const before = recordsOf(file);
  // From here on, changes are in the log of the open copy.
  store = await openSqliteStore({ file });
  for (let session = 0; session < sessions; session++) {
    const [key, sessionId] = [keyOf(`k${session}`), `session-${session}`];
    const choice = random.below(3);
    if (choice === 0) {
      await store.sessions.delete(key, { transcript: true });
      await store.devices.delete(`d${session}`);
      await store.kv.set("s", `k${session}`, undefined);
    }
    // A reset: the old transcript stays, the new one starts at 1.
    if (choice === 1) {
      await store.sessions.put(newSession({ key, sessionId: `${sessionId}-next` }));
      const body = { text: "after the reset" };
      await store.transcript.append(`${sessionId}-next`, [{ id: "first", type: "message", at: 1, body }]);
    }
  }
  for (let round = 0; round < 60; round += 2) await store.sessions.delete(keyOf(`many-${round}`), { transcript: true });
  for (const end of ["", "-wal"]) copyFileSync(file + end, open + end);
  await store.close();
  const truth = recordsOf(file);
  const deleted = Object.fromEntries(
    shapes.map(({ table }) => {
      const gone = Object.keys(before[table] ?? {}).filter((name) => !(name in (truth[table] ?? {})));
      return [table, new Set(gone)];
    }),
  );
  const trunk = readFileSync(file).readUInt32BE(32);
  assert.ok(trunk > 0 && (deleted["transcript"]?.size ?? 0) > 0);
  return { file, open, truth, deleted, trunk };
}

function copyOf({ file, open }: Model, withLog: boolean): string {
  const copy = newStoreFile();
  const from = withLog ? open : file;
  for (const end of ["", "-wal"]) if (existsSync(from + end)) copyFileSync(from + end, copy + end);
  return copy;
}

type Damager = (file: string, random: Random, model: Model) => void;

const damages: readonly Damager[] = [
  function manyPlaces(file, random) {
    change(file, (bytes) => {
      for (let place = 0; place < 20; place++) scramble(bytes, random, random.below(bytes.length - 32), 32);
    });
  },
  somePages,
  function freeListAndPlaces(file, random, { trunk }) {
    wipe(file, random, [trunk]);
    change(file, (bytes) => {
      for (let place = 0; place < 10; place++) scramble(bytes, random, random.below(bytes.length - 32), 32);
    });
  },
  function innerPages(file, random, model) {
    const inner = pagesOf(model.file, "pagetype = 'internal'").filter(() => random.below(2) === 0);
    wipe(file, random, [...inner, ...(random.below(2) === 0 ? [model.trunk] : [])]);
  },
  function singleBytes(file, random) {
    change(file, (bytes) => {
      for (let place = 0; place < 200; place++) scramble(bytes, random, random.below(bytes.length), 1);
    });
  },
  function truncated(file, random) {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.subarray(0, PAGE + random.below(bytes.length - PAGE)));
  },
];

function somePages(file: string, random: Random): void {
  const { length } = readFileSync(file);
  wipe(
    file,
    random,
    Array.from({ length: 1 + random.below(6) }, () => 1 + random.below(length / PAGE)),
  );
}

function change(file: string, act: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file);
  if (bytes.length > PAGE) act(bytes);
  writeFileSync(file, bytes);
}

function wipe(file: string, random: Random, pages: readonly number[]): void {
  change(file, (bytes) => {
    for (const page of pages) if (page * PAGE <= bytes.length) scramble(bytes, random, (page - 1) * PAGE, PAGE);
  });
}

function scramble(bytes: Buffer, random: Random, from: number, length: number): void {
  for (let at = from; at < from + length; at++) bytes[at] = random.below(256);
}

/** By name; `n` is left out, because a damaged row number is replaced. */
function recordsOf(file: string): Records {
  return reading(file, (database) =>
    Object.fromEntries(
      shapes.map((shape) => {
        const where = shape.table === "transcript" ? "WHERE type <> 'damaged'" : "";
        const found = database.prepare(`SELECT * FROM ${shape.table} ${where}`).all() as SqlRow[];
        return [
          shape.table,
          Object.fromEntries(found.map((row) => [nameOf(shape, row), JSON.stringify({ ...row, n: 0 })])),
        ];
      }),
    ),
  );
}

function placeholdersOf(file: string): string[] {
  const question = "SELECT session_id || ' #' || seq AS name FROM transcript WHERE type = 'damaged'";
  return reading(file, (database) =>
    database
      .prepare(question)
      .all()
      .map(({ name }) => String(name)),
  ).toSorted();
}

function pagesOf(file: string, which: string): number[] {
  const question = `SELECT pageno FROM dbstat WHERE ${which} ORDER BY pageno`;
  return reading(file, (database) =>
    database
      .prepare(question)
      .all()
      .map(({ pageno }) => Number(pageno)),
  );
}

function reading<T>(file: string, read: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

interface Random {
  below(end: number): number;
}

/** Deterministic, so that a failure can be repeated. */
function createRandom(seed: number): Random {
  let state = seed * 2_654_435_761;
  return {
    below(end) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((state / 2 ** 32) * end);
    },
  };
}
