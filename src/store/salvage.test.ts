// Salvage against the truth: whatever was done to the file, the report claims no more than is so.
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

  test("does not say that nothing was lost when it cannot know", async () => {
    const whole = await newFilledFile(size);
    const leaves = pagesOf(whole, "pagetype = 'leaf' AND name = 'transcript'").slice(0, 3);
    const inner = pagesOf(whole, "pagetype = 'internal' AND name IN ('transcript', 'transcript_key')");
    const file = damagedCopy(whole, (bytes) => [...leaves, ...inner].forEach((page) => noise(bytes, page)));
    const { kept, expected, lost, doubts } = await salvageStore(file, `${file}.saved`);
    assert.equal(expected["transcript"], "unknown");
    assert.match(doubts.join("\n"), /transcript: the table and its key index are damaged/);
    assert.ok(Number(kept["transcript"]) < 720 && lost.length > 0);
  });

  test("says that a file holds nothing instead of making an empty store of it", async () => {
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

  test("reads a file that was cut in half, and says how much is missing", async () => {
    const whole = await newFilledFile(size);
    const file = damagedCopy(whole, () => {});
    truncateSync(file, Math.floor(readFileSync(whole).length / 2));
    const { doubts, kept } = await salvageStore(file, `${file}.saved`);
    assert.match(doubts.join("\n"), /the file ends \d+ of \d+ pages early/);
    assert.ok(Number(kept["transcript"]) > 0);
  });

  test("takes in the log of a store whose first page is damaged", async () => {
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

  test("calls a folder a folder", async () => {
    const file = newStoreFile();
    mkdirSync(file);
    await assert.rejects(salvageStore(file, `${file}.saved`), { code: "store.not-a-file" });
    assert.match((await verifyStore(file)).checks[0]?.detail ?? "", /is a folder/);
  });

  test("after any damage: what it saves is true, what it calls lost is, and complete means all", async () => {
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
    // Bytes changed inside a text can pass for text; entries of a transcript are sealed against that.
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

/** The same every time, so that a failure can be repeated. */
function noise(bytes: Buffer, page: number): void {
  let state = page * 2_654_435_761;
  for (let at = (page - 1) * PAGE; at < page * PAGE; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 24;
  }
}
