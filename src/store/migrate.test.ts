// Migration by copy, verify and rename: what it keeps, what it rejects, and a crash at every step.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";

import { newFilledFile, newStoreFile } from "./cases/files.cases.ts";
import { migrateStore, type MigrationStep } from "./migrate.ts";
import { migrations as released } from "./migrations/list.ts";
import type { Migration } from "./migrations/migration.ts";
import { prepareStoreFile } from "./store-files.ts";
import { salvageStore } from "./salvage.ts";
import { openSqliteStore } from "./sqlite.ts";
import { verifyStore } from "./verify.ts";

const second: Migration = {
  version: released.length + 1,
  name: "notes",
  up: "CREATE TABLE notes (n INTEGER PRIMARY KEY, body TEXT) STRICT; ALTER TABLE runs ADD COLUMN note TEXT;",
};
const [known, then] = [released.length, released.length + 1];
const steps: MigrationStep[] = ["roomy", "locked", "copied", "migrated", "verified", "kept", "switched"];
const next = (migration: Partial<Migration> = {}): Migration[] => [...released, { ...second, ...migration }];

describe("a new store", () => {
  test("is created directly, with no file left beside it", () => {
    const file = newStoreFile();
    prepareStoreFile(file);
    assert.deepEqual(migrateStore(file), { from: 0, to: released.length });
    assert.deepEqual(readdirSync(dirname(file)), [basename(file)]);
    assert.deepEqual(migrateStore(file), { from: released.length, to: released.length });
  });
});

describe("an older store", () => {
  test("is reported with the path of its copy when it is opened", async () => {
    const file = newStoreFile();
    migrateStore(file, { migrations: released.slice(0, 3) });
    const reported: unknown[] = [];
    const opened = await openSqliteStore({ file, onMigrated: (migrated) => reported.push(migrated) });
    await opened.close();
    assert.deepEqual(reported, [{ from: 3, to: released.length, kept: `${file}.before-v${released.length}` }]);
  });

  test("is migrated with all its rows, and the old file is kept", async () => {
    const file = await newFilledFile();
    const seen: MigrationStep[] = [];
    const { from, to, kept } = migrateStore(file, { migrations: next(), onStep: (step) => seen.push(step) });
    assert.deepEqual({ from, to, kept }, { from: known, to: then, kept: `${file}.before-v${then}` });
    assert.deepEqual(seen, steps);
    assert.deepEqual(stateOf(file), { version: then, entries: 200, hasNotes: true });
    assert.deepEqual(stateOf(`${file}.before-v${then}`), { version: known, entries: 200, hasNotes: false });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(`${file}.before-v${then}`).mode & 0o777, 0o600);
    assert.equal(existsSync(`${file}.migrating`), false);
    const report = await verifyStore(`${file}.before-v${then}`);
    assert.equal(report.ok, true);
  });

  test("includes rows that are only in its log", async () => {
    const file = await newFilledFile();
    const crashed = await writeAndCrash(file);
    assert.ok(statSync(`${file}-wal`).size > 0);
    migrateStore(file, { migrations: next() });
    assert.deepEqual(stateOf(file), { version: then, entries: 200 + crashed, hasNotes: true });
  });

  test("does not overwrite the copy of an earlier migration", async () => {
    const file = await newFilledFile();
    const [first, again] = [migrateStore(file, { migrations: next() }), `${file}.before-v${then}`];
    const database = new DatabaseSync(file);
    database.exec(`DROP TABLE notes; ALTER TABLE runs DROP COLUMN note; PRAGMA user_version = ${known}`);
    database.close();
    const before = readFileSync(again);
    const twice = migrateStore(file, { migrations: next() });
    assert.deepEqual([first.kept, twice.kept], [again, `${again}.2`]);
    assert.deepEqual(readFileSync(again), before);
  });

  test("is unchanged when a step of the migration fails", async () => {
    const file = await newFilledFile();
    const failing = next({ up: `${second.up} INSERT INTO nowhere VALUES (1);` });
    assert.throws(() => migrateStore(file, { migrations: failing }), /nowhere/);
    await assertAsBefore(file);
  });

  test("is unchanged when the copy has lost rows or a whole table", async () => {
    for (const up of ["DELETE FROM transcript WHERE seq > 20;", "DROP TABLE kv;"]) {
      const file = await newFilledFile();
      assert.throws(() => migrateStore(file, { migrations: next({ up }) }), { code: "store.migration-failed" });
      await assertAsBefore(file);
    }
  });

  test("may lose rows where the migration declares it", async () => {
    const file = await newFilledFile();
    migrateStore(file, {
      migrations: next({ up: `${second.up} DELETE FROM transcript WHERE seq > 20;`, recounts: ["transcript"] }),
    });
    assert.deepEqual(stateOf(file), { version: then, entries: 100, hasNotes: true });
  });

  test("is not migrated while another process has it open", async () => {
    const file = await newFilledFile();
    const store = await openSqliteStore({ file });
    await store.kv.set("s", "k", 1);
    assert.throws(() => migrateStore(file, { migrations: next() }), { code: "store.busy" });
    await store.kv.set("s", "k", 2);
    await store.close();
    migrateStore(file, { migrations: next() });
    assert.deepEqual(stateOf(file), { version: then, entries: 200, hasNotes: true });
  });

  for (const step of steps) {
    test(`survives kill -9 when ${step}`, async () => {
      const file = await newFilledFile();
      await writeAndCrash(file);
      await migrateAndCrash(file, step);
      const version = step === "switched" ? then : known;
      assert.deepEqual(stateOf(file), { version, entries: 210, hasNotes: version === then });
      if (version === known) {
        // The old code can still use it …
        const store = await openSqliteStore({ file });
        assert.equal(await store.transcript.count("crashing"), 10);
        await store.close();
      }
      // … and the new code can try again.
      migrateStore(file, { migrations: next() });
      assert.deepEqual(stateOf(file), { version: then, entries: 210, hasNotes: true });
      assert.deepEqual(stateOf(`${file}.before-v${then}`), { version: known, entries: 210, hasNotes: false });
      assert.equal(existsSync(`${file}.migrating`), false);
    });
  }
});

for (let version = 1; version < released.length; version++) {
  test(`a store of schema version ${version} opens today with all its rows, and survives the loss of its first page`, async () => {
    const file = newStoreFile();
    prepareStoreFile(file);
    migrateStore(file, { migrations: released.slice(0, version) });
    const old = new DatabaseSync(file);
    for (let index = 0; index < 500; index++)
      old.prepare("INSERT INTO kv (space, key, value) VALUES ('s', ?, ?)").run(`k${index}`, `"${"x".repeat(500)}"`);
    old.close();
    const store = await openSqliteStore({ file });
    assert.equal((await store.kv.list("s")).length, 500);
    await store.jobs.put({ id: "j", createdAt: 1, updatedAt: 1, body: {}, state: {} });
    await store.close();
    writeFileSync(file, Buffer.concat([Buffer.alloc(4096, 0xaa), readFileSync(file).subarray(4096)]));
    const { kept, lost, contentsLent } = await salvageStore(file, `${file}.saved`);
    assert.deepEqual(
      { kv: kept["kv"], jobs: kept["jobs"], lost, contentsLent },
      { kv: 500, jobs: 1, lost: [], contentsLent: true },
    );
  });
}

describe("a newer store", () => {
  test("is rejected unchanged by every opener", async () => {
    const file = await newFilledFile();
    migrateStore(file, { migrations: next() });
    const before = { bytes: readFileSync(file), names: readdirSync(dirname(file)) };
    const refusal = { code: "store.newer", details: { file, version: then, known } };
    await assert.rejects(openSqliteStore({ file }), refusal);
    await assert.rejects(openSqliteStore({ file, readOnly: true }), refusal);
    assert.deepEqual({ bytes: readFileSync(file), names: readdirSync(dirname(file)) }, before);
  });
});

async function assertAsBefore(file: string): Promise<void> {
  assert.deepEqual(stateOf(file), { version: known, entries: 200, hasNotes: false });
  const store = await openSqliteStore({ file });
  await store.kv.set("s", "works", true);
  await store.close();
  assert.equal((await verifyStore(file)).ok, true);
}

function stateOf(file: string): { version: unknown; entries: unknown; hasNotes: boolean } {
  const database = new DatabaseSync(file);
  try {
    return {
      version: database.prepare("PRAGMA user_version").get()?.["user_version"],
      entries: database.prepare("SELECT count(*) AS total FROM transcript").get()?.["total"],
      hasNotes: database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'notes'").get() !== undefined,
    };
  } finally {
    database.close();
  }
}

/** Leaves a log with ten entries without a checkpoint. */
async function writeAndCrash(file: string): Promise<number> {
  await crash(`
    import { openSqliteStore } from ${here("sqlite.ts")};
    const store = await openSqliteStore({ file: ${JSON.stringify(file)} });
    for (let index = 0; index < 10; index++) await store.transcript.append("crashing", [{ id: "e" + index, type: "message", at: 1, body: index }]);
    process.kill(process.pid, "SIGKILL");`);
  return 10;
}

async function migrateAndCrash(file: string, step: MigrationStep): Promise<void> {
  await crash(`
    import { migrateStore } from ${here("migrate.ts")};
    const onStep = (step) => step === ${JSON.stringify(step)} && process.kill(process.pid, "SIGKILL");
    migrateStore(${JSON.stringify(file)}, { migrations: ${JSON.stringify(next())}, onStep });`);
}

async function crash(script: string): Promise<void> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  const [, signal] = (await once(child, "exit")) as [number | null, string | null];
  assert.equal(signal, "SIGKILL", "the process was to be killed in the middle");
}

function here(file: string): string {
  return JSON.stringify(new URL(file, import.meta.url).href);
}
