// The SQLite store: the contract cases, and behavior of the file on disk.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";

import { fillStore, newFilledFile, newStoreFile } from "./cases/files.cases.ts";
import { openSqliteStore } from "./sqlite.ts";
import { storeCases, type OpenedStore } from "./store.cases.ts";
import { verifyStore } from "./verify.ts";

describe("the store on SQLite", () => storeCases(openTemporary));

describe("the files of a store", () => {
  test("are private in a private folder, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      const file = join(dirname(newStoreFile()), "state", "openclaw.sqlite");
      const store = await openSqliteStore({ file });
      await fillStore(store);
      const modes = Object.fromEntries(
        readdirSync(dirname(file)).map((name) => [name, modeOf(join(dirname(file), name))]),
      );
      assert.deepEqual(modes, { "openclaw.sqlite": "600", "openclaw.sqlite-shm": "600", "openclaw.sqlite-wal": "600" });
      assert.equal(modeOf(dirname(file)), "700");
      await store.close();
    } finally {
      process.umask(before);
    }
  });

  test("are made private again when their mode was changed", async () => {
    const file = await newFilledFile();
    chmodSync(file, 0o644);
    await (await openSqliteStore({ file })).close();
    assert.equal(modeOf(file), "600");
  });

  test("leave one file when closed", async () => {
    const file = await newFilledFile();
    assert.deepEqual(readdirSync(dirname(file)), ["openclaw.sqlite"]);
  });
});

describe("opening", () => {
  test("rejects a foreign database and leaves it unchanged", async () => {
    const file = newStoreFile();
    const database = new DatabaseSync(file);
    database.exec("CREATE TABLE theirs (a); PRAGMA user_version = 1");
    database.close();
    await assert.rejects(openSqliteStore({ file }), { code: "store.foreign" });
    assert.deepEqual(readdirSync(dirname(file)), ["openclaw.sqlite"]);
  });

  test("rejects a file that is not a database", async () => {
    const file = newStoreFile();
    writeFileSync(file, "a diary, not a database. ".repeat(400));
    await assert.rejects(openSqliteStore({ file }), { code: "store.damaged" });
  });

  test("uses an empty file as a new store", async () => {
    const file = newStoreFile();
    writeFileSync(file, "");
    await (await openSqliteStore({ file })).close();
    assert.equal((await verifyStore(file)).ok, true);
  });

  test("opens twice in one process, each seeing what the other committed", async () => {
    const file = newStoreFile();
    const [one, two] = [await openSqliteStore({ file }), await openSqliteStore({ file })];
    await one.kv.set("s", "from", "one");
    assert.equal(await two.kv.get("s", "from"), "one");
    await two.kv.set("s", "from", "two");
    assert.equal(await one.kv.get("s", "from"), "two");
    await one.close();
    await two.close();
  });
});

describe("read-only", () => {
  test("reads beside the owner and rejects writes", async () => {
    const file = newStoreFile();
    const owner = await openSqliteStore({ file });
    await owner.kv.set("s", "k", 1);
    const reader = await openSqliteStore({ file, readOnly: true });
    assert.equal(await reader.kv.get("s", "k"), 1);
    await owner.kv.set("s", "k", 2);
    assert.equal(await reader.kv.get("s", "k"), 2);
    await assert.rejects(reader.kv.set("s", "k", 3), { code: "store.read-only" });
    await reader.close();
    await owner.close();
  });

  test("reports a missing store, and creates no file", async () => {
    const file = newStoreFile();
    await assert.rejects(openSqliteStore({ file, readOnly: true }), { code: "store.missing" });
    assert.equal(existsSync(file), false);
  });

  test("does not migrate: an empty or older store is rejected", async () => {
    const file = newStoreFile();
    writeFileSync(file, "");
    await assert.rejects(openSqliteStore({ file, readOnly: true }), { code: "store.older" });
    assert.equal(statSync(file).size, 0);
  });
});

async function openTemporary(): Promise<OpenedStore> {
  const folder = mkdtempSync(join(tmpdir(), "store-"));
  const file = join(folder, "state", "openclaw.sqlite");
  mkdirSync(dirname(file), { mode: 0o700 });
  const onDamage = (damage: unknown): void => assert.fail(`damage: ${JSON.stringify(damage)}`);
  let store = await openSqliteStore({ file, onDamage });
  return {
    store,
    async reopen() {
      await store.close();
      store = await openSqliteStore({ file, onDamage });
      return store;
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
