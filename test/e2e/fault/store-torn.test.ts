// Stores whose log or file was torn (F2): a prefix or every record named, never half of one.
// Every offset: OPENCLAW_FAULT_ROUNDS=500 node --test test/e2e/fault/store-torn.test.ts
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { DatabaseSync } from "node:sqlite";

import { openSqliteStore } from "../../../src/store/sqlite.ts";
import { salvageStore } from "../../../src/store/salvage.ts";
import type { StoredEntry } from "../../../src/store/store.ts";
import type { TornLog } from "../../../src/store/torn-log.ts";
import { verifyStore } from "../../../src/store/verify.ts";
import { assertSound, newFile, rounds, startWriter } from "../../harness/store.ts";

describe("a torn log", () => {
  // The guarantee is for every offset; a run of the usual length takes every thirteenth.
  const stride = rounds >= 500 ? 1 : 37;
  test(`cut at any offset of its last 4 kB: a prefix is read, never half a record (stride ${stride})`, async (t) => {
    const { file, total } = await newCrashedFile();
    const size = statSync(`${file}-wal`).size;
    const near = Array.from({ length: Math.ceil(4096 / stride) }, (_, index) => size - 4096 + index * stride);
    const far = Array.from({ length: 40 }, (_, index) => Math.floor((size * index) / 40));
    const seen = new Set<number>();
    let named = 0;
    for (const cut of [...near, ...far]) {
      const { count, torn } = await countAfter(file, total, (log) => truncateSync(log, cut));
      seen.add(count);
      if (torn !== undefined) named += 1;
      // What lies behind the last whole commit is kept, byte for byte, under a name that was told.
      const left = readFileSync(`${file}-wal`).subarray(torn?.from ?? cut, cut);
      assert.deepEqual(torn === undefined ? Buffer.alloc(0) : readFileSync(torn.kept ?? ""), left);
    }
    t.diagnostic(
      `${near.length + far.length} cuts, ${seen.size} different prefixes of ${total} entries, ${named} tails set aside`,
    );
    assert.ok(named > near.length / 2);
    assert.ok(Math.max(...seen) < total && Math.min(...seen) === 0, [...seen].join(" "));
    assert.deepEqual(
      await countAfter(file, total, () => {}),
      { count: total, torn: undefined },
      "an uncut log gives all",
    );
  });

  test("overwritten anywhere in its last 4 kB: a prefix is read, never half a record", async () => {
    const { file, total } = await newCrashedFile();
    const bytes = readFileSync(`${file}-wal`);
    for (let at = bytes.length - 4096; at < bytes.length; at += 64) {
      await countAfter(file, total, (log) =>
        writeFileSync(log, Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at, 0x5a)])),
      );
    }
  });

  async function countAfter(
    file: string,
    total: number,
    harm: (log: string) => void,
  ): Promise<{ count: number; torn: TornLog | undefined }> {
    const copy = `${file}.copy`;
    let torn: TornLog | undefined;
    for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
    rmSync(`${copy}-shm`, { force: true });
    harm(`${copy}-wal`);
    const store = await openSqliteStore({
      file: copy,
      onTorn: (found) => (torn = found),
      onDamage: (damage) => assert.fail(JSON.stringify(damage)),
    });
    const entries = await store.transcript.tail("s0", total + 1);
    assert.deepEqual(
      entries.map(({ id, seq }) => `${id} ${seq}`),
      entries.map((_, index) => `s0-${index + 1} ${index + 1}`),
    );
    await store.close();
    await assertSound(copy);
    return { count: entries.length, torn };
  }

  /** One session whose last entries are only in the log. */
  async function newCrashedFile(): Promise<{ file: string; total: number }> {
    const file = newFile();
    const writer = startWriter(file, "1");
    await writer.ready;
    await writer.atLeast(40);
    await writer.kill();
    const copy = `${file}.counted`;
    for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
    const store = await openSqliteStore({ file: copy });
    const total = await store.transcript.count("s0");
    await store.close();
    return { file, total };
  }
});

describe("a torn file", () => {
  // The file itself is written only while its log still holds the same pages; alone it is torn by what SQLite cannot see.
  const stride = rounds >= 500 ? 1 : 97;
  test(`cut during a checkpoint: every record is there (stride ${stride})`, async () => {
    const { file, total } = await newFoldedFile();
    const size = statSync(file).size;
    for (let cut = size - 1; cut > size - 4096; cut -= stride) {
      const copy = `${file}.copy`;
      for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
      rmSync(`${copy}-shm`, { force: true });
      truncateSync(copy, cut);
      const store = await openSqliteStore({ file: copy, onDamage: (damage) => assert.fail(JSON.stringify(damage)) });
      assert.equal((await store.transcript.tail("s0", total + 1)).length, total);
      await store.close();
      assert.equal((await verifyStore(copy)).ok, true);
    }
  });

  test(`cut without a log beside it: every lost record is named, every other is saved whole (stride ${stride})`, async (t) => {
    const file = newFile();
    const store = await openSqliteStore({ file });
    const total = 120;
    for (let seq = 1; seq <= total; seq++)
      await store.transcript.append(`s${seq % 3}`, [
        { id: `e${seq}`, type: "message", at: seq, body: { text: `${seq} `.repeat(200) } },
      ]);
    await store.close();
    const size = statSync(file).size;
    const seen = { cuts: 0, lost: 0, refused: 0 };
    for (let cut = size - 1; cut >= size - 4096; cut -= stride) {
      const copy = `${file}.copy`;
      for (const end of ["", "-wal", "-shm", ".saved"]) rmSync(copy + end, { force: true });
      copyFileSync(file, copy);
      truncateSync(copy, cut);
      const report = await verifyStore(copy);
      if (report.checks.some(({ name, ok }) => name === "opens" && !ok)) seen.refused += 1;
      else assert.equal(report.ok, report.damages.length === 0 && report.checks.every(({ ok }) => ok));
      const { lost } = await salvageStore(copy, `${copy}.saved`);
      const saved = await openSqliteStore({ file: `${copy}.saved` });
      const found: StoredEntry[] = [];
      for (const session of ["s0", "s1", "s2"]) found.push(...(await saved.transcript.tail(session, total)));
      await saved.close();
      const whole = found.filter(({ type }) => type === "message");
      for (const { id, at, body } of whole) assert.deepEqual([id, body], [`e${at}`, { text: `${at} `.repeat(200) }]);
      assert.equal(
        whole.length + lost.filter(({ table }) => table === "transcript").length,
        total,
        JSON.stringify(lost),
      );
      assert.equal((await verifyStore(`${copy}.saved`)).ok, true);
      seen.cuts += 1;
      seen.lost = Math.max(seen.lost, lost.length);
    }
    t.diagnostic(`${seen.cuts} cuts, at most ${seen.lost} of ${total} records lost, all of them named`);
  });

  /** As after a kill in the middle of a checkpoint: pages are in the file, and in the log that is still there. */
  async function newFoldedFile(): Promise<{ file: string; total: number }> {
    const file = newFile();
    const store = await openSqliteStore({ file });
    for (let seq = 1; seq <= 60; seq++)
      await store.transcript.append("s0", [{ id: `e${seq}`, type: "message", at: seq, body: "x".repeat(2000) }]);
    const reader = new DatabaseSync(file);
    // A reader prevents a restart of the log; a passive checkpoint still writes the file.
    reader.exec("PRAGMA wal_checkpoint(PASSIVE)");
    const copy = newFile();
    for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
    reader.close();
    await store.close();
    return { file: copy, total: 60 };
  }
});
