// Verify and salvage against real damage: bytes overwritten in the file of a store.
import assert from "node:assert/strict";
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";

import { newFilledFile, newStoreFile } from "./cases/files.cases.ts";
import { keyOf } from "./cases/sample.ts";
import { salvageStore } from "./salvage.ts";
import type { Damage } from "./sql.ts";
import { migrations } from "./migrations/list.ts";
import { openSqliteStore } from "./sqlite.ts";
import { isRebuildable, verifyStore, type StoreReport } from "./verify.ts";

const PAGE_BYTES = 4096;
const wholeCounts = {
  sessions: 5,
  transcript: 200,
  letters: 5,
  runs: 5,
  children: 5,
  devices: 5,
  device_requests: 5,
  dedupe: 5,
  kv: 5,
  jobs: 5,
  slots: 5,
  journal: 5,
};

describe("verify", () => {
  test("passes every check on an intact store, with its counts", async () => {
    const file = await newFilledFile();
    const before = readFileSync(file);
    const report = await verifyStore(file);
    assert.deepEqual(report, {
      file,
      ok: true,
      checks: [
        { name: "opens", ok: true, detail: "ok" },
        { name: "shape", ok: true, detail: `version ${migrations.length}` },
        { name: "integrity", ok: true, detail: "ok" },
        { name: "foreign keys", ok: true, detail: "ok" },
        { name: "records", ok: true, detail: "ok" },
        { name: "transcript order", ok: true, detail: "ok" },
        { name: "orphan transcripts", ok: true, detail: "none" },
      ],
      counts: wholeCounts,
      damages: [],
    });
    assert.deepEqual(readFileSync(file), before);
  });

  test("reports a file that is not a store", async () => {
    const file = newStoreFile();
    assert.deepEqual(failuresOf(await verifyStore(file)), [`opens: there is no store at ${file}`]);
    new DatabaseSync(file).exec("CREATE TABLE t (a)");
    assert.deepEqual(failuresOf(await verifyStore(file)), [`opens: ${file} is not a store of this program`]);
  });

  test("names a gap in a transcript, a wrong checksum and invalid JSON", async () => {
    const file = await newFilledFile();
    const database = new DatabaseSync(file);
    database.exec(`
      DELETE FROM transcript WHERE session_id = 'session-1' AND seq = 7;
      UPDATE transcript SET body = replace(body, 'words', 'lords') WHERE session_id = 'session-2' AND seq = 3;
      UPDATE sessions SET entry = '{"half' WHERE key = 'agent:main:k4';`);
    database.close();
    assert.deepEqual(failuresOf(await verifyStore(file)), [
      "records: sessions agent:main:k4: entry is not JSON; transcript session-2 #3: its checksum does not match",
      "transcript order: session-1 has 39 entries numbered 1 to 40",
    ]);
  });

  test("reports a transcript without its session, but not as damage", async () => {
    const file = await newFilledFile();
    const store = await openSqliteStore({ file });
    await store.sessions.delete(keyOf("k3"), { transcript: false });
    await store.close();
    const report = await verifyStore(file);
    assert.equal(report.ok, true);
    assert.deepEqual(report.checks.at(-1), {
      name: "orphan transcripts",
      ok: true,
      detail: "1 kept without a session: session-3",
    });
  });
});

test("can be rebuilt when only an index is damaged, not when a record is", async () => {
  const file = await newFilledFile();
  const database = new DatabaseSync(file);
  const index = database.prepare("SELECT pageno FROM dbstat WHERE name = 'transcript_key' LIMIT 1").get();
  database.close();
  const fd = openSync(file, "r+");
  writeSync(fd, Buffer.alloc(PAGE_BYTES, 0x5a), 0, PAGE_BYTES, (Number(index?.["pageno"]) - 1) * PAGE_BYTES);
  closeSync(fd);
  const report = await verifyStore(file);
  assert.ok(report.checks.some(({ name, ok }) => name === "transcript order" && !ok));
  assert.equal(isRebuildable(report), true);
  const other = await newFilledFile();
  const records = new DatabaseSync(other);
  records.exec(`UPDATE sessions SET entry = '{"half' WHERE key = 'agent:main:k4'`);
  records.close();
  assert.equal(isRebuildable(await verifyStore(other)), false);
});

describe("a damaged store", () => {
  test("names a record with invalid JSON, does not return it, and lists the others", async () => {
    const file = await newFilledFile();
    const database = new DatabaseSync(file);
    database.exec(`UPDATE sessions SET entry = '{"half' WHERE key = 'agent:main:k2'`);
    database.close();
    const damages: Damage[] = [];
    const store = await openSqliteStore({ file, onDamage: (damage) => damages.push(damage) });
    await assert.rejects(store.sessions.get(keyOf("k2")), {
      code: "store.damaged",
      details: { table: "sessions", record: "agent:main:k2" },
    });
    assert.deepEqual(
      (await store.sessions.list({})).map(({ key }) => key),
      ["k4", "k3", "k1", "k0"].map((rest) => keyOf(rest)),
    );
    assert.deepEqual(damages, [{ table: "sessions", record: "agent:main:k2", reason: "entry is not JSON" }]);
    await store.close();
  });

  test("names each transcript entry lost on a damaged page and reads all others", async () => {
    const file = await newFilledFile();
    const lostEntries = overwriteTranscriptLeaf(file);
    assert.ok(lostEntries.length > 2);
    const damages: Damage[] = [];
    const store = await openSqliteStore({ file, onDamage: (damage) => damages.push(damage) });
    const entries = (
      await Promise.all([0, 1, 2, 3, 4].map((session) => store.transcript.tail(`session-${session}`, 100)))
    ).flat();
    assert.equal(entries.length, 200);
    assert.equal(entries.filter(({ type }) => type === "damaged").length, lostEntries.length);
    assert.deepEqual(damages.map(({ record }) => record).toSorted(), lostEntries.toSorted());
    // Other tables can still be written.
    await store.kv.set("s", "still", "here");
    await store.close();

    const report = await verifyStore(file);
    assert.equal(report.ok, false);
    assert.deepEqual(report.damages.map(({ record }) => record).toSorted(), lostEntries.toSorted());
    assert.deepEqual(report.counts, { ...wholeCounts, transcript: 200 - lostEntries.length, kv: 6 });
  });

  test("salvage saves every other record and the result passes verification", async () => {
    const file = await newFilledFile();
    const lostEntries = overwriteTranscriptLeaf(file);
    const before = readFileSync(file);
    const to = `${file}.saved`;
    const { kept, lost, contentsLent } = await salvageStore(file, to);
    assert.deepEqual(kept, { ...wholeCounts, transcript: 200 - lostEntries.length });
    assert.deepEqual(lost.map(({ record }) => record).toSorted(), lostEntries.toSorted());
    assert.equal(contentsLent, false);
    assert.equal((await verifyStore(to)).ok, true);
    assert.equal(statSync(to).mode & 0o777, 0o600);
    assert.deepEqual(readFileSync(file), before, "the damaged store is left as it is");
    assert.deepEqual([`${to}.part`, `${to}.source`].map(existsSync), [false, false]);
    const store = await openSqliteStore({ file: to });
    assert.equal(await store.transcript.append("session-0", [{ id: "next", type: "message", at: 1, body: 1 }]), 41);
    await store.close();
  });

  test("names every record that is not saved, whichever page is damaged", async () => {
    const whole = readFileSync(await newFilledFile());
    const all = Object.values(wholeCounts).reduce((sum, count) => sum + count, 0);
    for (let page = 0; page < whole.length / PAGE_BYTES; page++) {
      const file = newStoreFile();
      writeFileSync(file, whole);
      overwritePage(file, page);
      const { kept, lost } = await salvageStore(file, `${file}.saved`);
      const saved = Object.values(kept).reduce((sum, count) => sum + count, 0);
      assert.equal(saved + lost.length, all, `page ${page}: ${JSON.stringify({ kept, lost })}`);
      assert.equal((await verifyStore(`${file}.saved`)).ok, true);
    }
  });

  test("saves every record after the loss of the first page", async () => {
    const file = await newFilledFile();
    overwritePage(file, 0);
    assert.deepEqual(failuresOf(await verifyStore(file)), [`opens: the store ${file} has a damaged part`]);
    await assert.rejects(openSqliteStore({ file }), { code: "store.damaged" });
    assert.deepEqual(await salvageStore(file, `${file}.saved`), {
      kept: wholeCounts,
      expected: wholeCounts,
      duplicates: Object.fromEntries(Object.keys(wholeCounts).map((table) => [table, 0])),
      lost: [],
      doubts: [],
      contentsLent: true,
    });
  });

  test("salvage does not overwrite a file", async () => {
    const file = await newFilledFile();
    await assert.rejects(salvageStore(file, file), { code: "store.exists" });
    await assert.rejects(salvageStore(`${file}.nobody`, `${file}.saved`), { code: "store.missing" });
  });
});

/** Overwrites one leaf of the transcript table; returns the names of the entries on it. */
function overwriteTranscriptLeaf(file: string): string[] {
  const database = new DatabaseSync(file);
  const { pageno } = database
    .prepare(
      "SELECT pageno FROM dbstat WHERE name = 'transcript' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 3",
    )
    .get() as { pageno: number };
  const names = database.prepare("SELECT session_id || ' #' || seq AS name FROM transcript ORDER BY n").all();
  database.close();
  overwritePage(file, pageno - 1);
  const damagedFile = new DatabaseSync(file);
  const read = damagedFile.prepare("SELECT body FROM transcript WHERE n = ?");
  const lost = names.filter((_, index) => {
    try {
      return read.get(index + 1) === undefined;
    } catch (error) {
      assert.match(String(error), /malformed/);
      return true;
    }
  });
  damagedFile.close();
  return lost.map((row) => String(row["name"]));
}

function overwritePage(file: string, page: number): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, page * PAGE_BYTES);
  closeSync(descriptor);
}

function failuresOf(report: StoreReport): string[] {
  return report.checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`);
}
