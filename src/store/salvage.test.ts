// Salvage reports only what is true, whatever damage the file has.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";

import { newFilledFile, newStoreFile } from "./cases/files.cases.ts";
import { nameOf } from "./readable.ts";
import { salvageStore, type Salvaged } from "./salvage.ts";
import { shapes } from "./shapes.ts";
import { verifyStore } from "./verify.ts";

const PAGE = 4096;
const size = { sessions: 12, entries: 60 };

describe("salvage", () => {
  test("saves every entry when inner pages of the transcript and of its index are damaged", async () => {
    const whole = await newFilledFile(size);
    const inner = pagesOf(whole, "pagetype = 'internal' AND name IN ('transcript', 'transcript_key')");
    assert.ok(inner.length >= 2);
    for (const pages of [...inner.map((page) => [page]), inner]) {
      const file = damagedCopy(whole, (bytes) => pages.forEach((page) => noise(bytes, page)));
      const { kept, lost } = await salvageStore(file, `${file}.saved`);
      assert.equal(kept["transcript"], 720, `pages ${pages.join()}`);
      assert.deepEqual(lost, []);
      assert.deepEqual(truthOf(`${file}.saved`), truthOf(whole));
    }
  });

  test("does not claim completeness when it cannot know", async () => {
    const whole = await newFilledFile(size);
    const leaves = pagesOf(whole, "pagetype = 'leaf' AND name = 'transcript'").slice(0, 3);
    const inner = pagesOf(whole, "pagetype = 'internal' AND name IN ('transcript', 'transcript_key')");
    const file = damagedCopy(whole, (bytes) => [...leaves, ...inner].forEach((page) => noise(bytes, page)));
    const { kept, expected, lost, doubts } = await salvageStore(file, `${file}.saved`);
    assert.equal(expected["transcript"], "unknown");
    assert.match(doubts.join("\n"), /transcript: the table and its key index are damaged/);
    assert.ok(Number(kept["transcript"]) < 720 && lost.length > 0);
  });

  test("rejects a file without records instead of creating an empty store from it", async () => {
    const whole = await newFilledFile(size);
    const contents: readonly Buffer[] = [
      Buffer.from("this is not a database ".repeat(1000)),
      readFileSync(whole).subarray(0, 100),
      Buffer.alloc(0),
      Buffer.alloc(50_000),
    ];
    for (const bytes of contents) {
      const file = newStoreFile();
      writeFileSync(file, bytes);
      await assert.rejects(salvageStore(file, `${file}.saved`), { code: "store.unreadable" });
      assert.equal(existsSync(`${file}.saved`), false);
    }
  });

  test("reads a truncated file, and reports how much is missing", async () => {
    const whole = await newFilledFile(size);
    const file = damagedCopy(whole, () => {});
    truncateSync(file, Math.floor(readFileSync(whole).length / 2));
    const { doubts, kept } = await salvageStore(file, `${file}.saved`);
    assert.match(doubts.join("\n"), /the file is truncated by \d+ of \d+ pages/);
    assert.ok(Number(kept["transcript"]) > 0);
  });

  test("includes the log of a store whose first page is damaged", async () => {
    const whole = await newFilledFile(size);
    const database = new DatabaseSync(whole);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    database.exec("UPDATE kv SET value = '\"changed\"'");
    const file = newStoreFile();
    for (const end of ["", "-wal"]) copyFileSync(whole + end, file + end);
    database.close();
    const bytes = readFileSync(file);
    noise(bytes, 1);
    writeFileSync(file, bytes);
    await salvageStore(file, `${file}.saved`);
    const saved = new DatabaseSync(`${file}.saved`, { readOnly: true });
    assert.deepEqual(
      saved
        .prepare("SELECT DISTINCT value FROM kv")
        .all()
        .map(({ value }) => value),
      ['"changed"'],
    );
    saved.close();
  });

  test("saves all other records when a record has a number that cannot be read", async () => {
    const whole = await newFilledFile(size);
    const database = new DatabaseSync(whole);
    database.exec("UPDATE transcript SET at = 9007199254740993 WHERE session_id = 'session-3' AND seq = 15");
    database.close();
    const { kept, expected, lost } = await salvageStore(whole, `${whole}.saved`);
    assert.deepEqual([kept["transcript"], expected["transcript"]], [719, 720]);
    assert.deepEqual(
      lost.map(({ record }) => record),
      ["session-3 #15"],
    );
  });

  test("saves two rows that damage has given the same row number", async () => {
    const whole = await newFilledFile(size);
    const [first = 0] = pagesOf(whole, "pagetype = 'leaf' AND name = 'transcript'");
    const file = damagedCopy(whole, (bytes) => {
      const page = bytes.subarray((first - 1) * PAGE, first * PAGE);
      // A cell starts with the size of its row, here two bytes, then its row number.
      const numberAt = (cell: number): number => page.readUInt16BE(8 + cell * 2) + 2;
      page[numberAt(1)] = page[numberAt(3)] ?? 0;
    });
    const { kept, expected, lost } = await salvageStore(file, `${file}.saved`);
    assert.deepEqual([kept["transcript"], expected["transcript"], lost], [720, 720, []]);
  });

  test("ends when damage makes row numbers go back to the start", async () => {
    const whole = await newFilledFile(size);
    const leaves = pagesOf(whole, "pagetype = 'leaf' AND name = 'transcript'");
    // Tables are read 500 rows at a time, so the next read would start from the beginning again.
    const number500 = Buffer.from([0x83, 0x74]);
    const file = damagedCopy(whole, (bytes) => {
      const pages = leaves.map((page) => bytes.subarray((page - 1) * PAGE, page * PAGE));
      const places = pages.flatMap((page) =>
        Array.from({ length: page.readUInt16BE(3) }, (_, cell) => page.subarray(page.readUInt16BE(8 + cell * 2) + 2)),
      );
      const found = places.filter((place) => place.subarray(0, 2).equals(number500));
      assert.equal(found.length, 1);
      found[0]?.set([0x80, 0x00]);
    });
    const { kept, expected, lost } = await salvageStore(file, `${file}.saved`);
    assert.deepEqual([kept["transcript"], expected["transcript"], lost], [720, 720, []]);
  });

  test("does not report a saved entry as lost under the damaged key of the index", async () => {
    const whole = await newFilledFile(size);
    const inner = pagesOf(whole, "pagetype = 'internal' AND name = 'transcript'");
    const keys = pagesOf(whole, "name = 'transcript_key'");
    const file = damagedCopy(whole, (bytes) => {
      for (const page of inner) noise(bytes, page);
      for (const page of keys) {
        const at = bytes.subarray((page - 1) * PAGE, page * PAGE).indexOf("session-3\x0f");
        if (at >= 0) bytes[(page - 1) * PAGE + at + "session-3".length] = 61;
      }
    });
    const { kept, expected, lost } = await salvageStore(file, `${file}.saved`);
    assert.deepEqual([kept["transcript"], expected["transcript"], lost], [720, 720, []]);
  });

  test("mentions commits behind a damaged frame of the log", async () => {
    const whole = await newFilledFile(size);
    const database = new DatabaseSync(whole);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
    for (let round = 0; round < 9; round++) database.exec(`UPDATE kv SET value = '${round}'`);
    const file = newStoreFile();
    for (const end of ["", "-wal"]) copyFileSync(whole + end, file + end);
    database.close();
    const log = readFileSync(`${file}-wal`);
    log.fill(0x5a, log.length / 2, log.length / 2 + 50);
    writeFileSync(`${file}-wal`, log);
    const { doubts } = await salvageStore(file, `${file}.saved`);
    assert.match(doubts.join("\n"), /the log is damaged: the changes of its last [1-9] commits are not applied/);
  });

  test("saves every record when damage renames a column of the schema", async () => {
    const whole = await newFilledFile(size);
    const file = damagedCopy(whole, (bytes) => {
      // A page can hold an unused copy of the text beside the one in use.
      for (let at = bytes.indexOf("CREATE TABLE slots"); at >= 0; at = bytes.indexOf("CREATE TABLE slots", at + 1))
        bytes.write("zzzzz", bytes.indexOf("ended_at INTEGER", at));
    });
    const { kept, expected, lost, doubts, contentsLent } = await salvageStore(file, `${file}.saved`);
    assert.deepEqual(
      [kept["transcript"], expected["transcript"], lost, doubts, contentsLent],
      [720, 720, [], [], true],
    );
  });

  test("saves every record when only the version number is damaged", async () => {
    const whole = await newFilledFile(size);
    // https://www.sqlite.org/fileformat.html#the_database_header: the user version.
    const file = damagedCopy(whole, (bytes) => bytes.fill(0x5a, 60, 64));
    const { kept, lost, doubts } = await salvageStore(file, `${file}.saved`);
    assert.deepEqual([kept["transcript"], lost, doubts], [720, [], []]);
  });

  test("reports a folder as a folder", async () => {
    const file = newStoreFile();
    mkdirSync(file);
    await assert.rejects(salvageStore(file, `${file}.saved`), { code: "store.not-a-file" });
    assert.match((await verifyStore(file)).checks[0]?.detail ?? "", /is a folder/);
  });

  test("after any damage: saved records are true, lost records are lost, and complete means all", async () => {
    const whole = await newFilledFile(size);
    const bytes = readFileSync(whole);
    const truth = truthOf(whole);
    const pages = bytes.length / PAGE;
    const at = fc.integer({ min: 0, max: bytes.length - 1 });
    const damage = fc.oneof(
      fc.record({ kind: fc.constant("noise" as const), page: fc.integer({ min: 1, max: pages }) }),
      fc.record({ kind: fc.constant("zero" as const), page: fc.integer({ min: 1, max: pages }) }),
      fc.record({ kind: fc.constant("flip" as const), at, length: fc.integer({ min: 1, max: 200 }) }),
      fc.record({ kind: fc.constant("cut" as const), at }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 6 }), async (damages) => {
        let changed = Buffer.from(bytes);
        for (const one of damages) {
          if (one.kind === "cut") changed = changed.subarray(0, one.at);
          else if (one.kind === "flip") changed.subarray(one.at, one.at + one.length).fill(0x5a);
          else if (one.page * PAGE > changed.length) continue;
          else if (one.kind === "zero") changed.fill(0, (one.page - 1) * PAGE, one.page * PAGE);
          else noise(changed, one.page);
        }
        const file = newStoreFile();
        writeFileSync(file, changed);
        const report = await salvageStore(file, `${file}.saved`).catch((error: { code?: string }) => error);
        if ("code" in report) return assert.equal(report.code, "store.unreadable");
        assertTrue(report as Salvaged, truthOf(`${file}.saved`), truth);
        assert.equal((await verifyStore(`${file}.saved`)).ok, true);
      }),
      { numRuns: Number(process.env["OPENCLAW_PROPERTY_RUNS"] ?? 40) },
    );
  });
});

type Truth = Record<string, Record<string, string>>;

function assertTrue({ kept, expected, lost, doubts }: Salvaged, saved: Truth, truth: Truth): void {
  for (const [table, records] of Object.entries(truth)) {
    const found = Object.keys(saved[table] ?? {});
    assert.equal(kept[table], found.length, `${table}: as many as it says`);
    // Changed bytes inside a text can still be valid text; a checksum protects transcript entries against that.
    if (table === "transcript")
      for (const name of found)
        assert.equal(saved[table]?.[name], records[name], `${table} ${name} is what was written`);
    const count = Object.keys(records).length;
    if (typeof expected[table] === "number" && doubts.length === 0)
      assert.equal(expected[table], count, `${table}: what it held`);
    const named = lost.filter((one) => one.table === table).map(({ record }) => record);
    for (const record of named) assert.ok(!found.includes(record), `${table} ${record} is not both lost and saved`);
    if (doubts.length > 0) continue;
    assert.equal(found.length + named.length, count, `${table}: nothing is missing without a word`);
  }
}

function truthOf(file: string): Truth {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Object.fromEntries(
      shapes.map((shape) => {
        const found = database.prepare(`SELECT * FROM ${shape.table}`).all() as Record<
          string,
          string | number | null
        >[];
        const records = found.filter(({ type }) => type !== "damaged");
        return [shape.table, Object.fromEntries(records.map((row) => [nameOf(shape, row), JSON.stringify(row)]))];
      }),
    );
  } finally {
    database.close();
  }
}

function pagesOf(file: string, which: string): number[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const found = database.prepare(`SELECT pageno FROM dbstat WHERE ${which} ORDER BY pageno`).all();
  database.close();
  return found.map(({ pageno }) => Number(pageno));
}

function damagedCopy(whole: string, change: (bytes: Buffer) => void): string {
  const file = newStoreFile();
  const bytes = readFileSync(whole);
  change(bytes);
  writeFileSync(file, bytes);
  return file;
}

/** Deterministic, so that a failure can be repeated. */
function noise(bytes: Buffer, page: number): void {
  let state = page * 2_654_435_761;
  for (let at = (page - 1) * PAGE; at < page * PAGE; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 24;
  }
}
