// Backup and restore: during load, of damaged files, and beside a running gateway.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";

import { acquireLock, stateLockOf } from "../base/lock.ts";
import { backupStore } from "./backup.ts";
import { newFilledFile, newStoreFile } from "./cases/files.cases.ts";
import { restoreStore } from "./restore.ts";
import { openSqliteStore } from "./sqlite.ts";
import { verifyStore } from "./verify.ts";

describe("backup", () => {
  test("is one private, verified file with every row, including rows that are only in the log", async () => {
    const file = newStoreFile();
    const store = await openSqliteStore({ file });
    await store.transcript.append("s", [{ id: "e", type: "message", at: 1, body: "in the log" }]);
    const to = join(dirname(file), "backups", "one.sqlite");
    const report = await backupStore(file, to);
    await store.close();
    assert.deepEqual([report.ok, report.file, report.counts["transcript"]], [true, to, 1]);
    assert.deepEqual(readdirSync(dirname(to)), ["one.sqlite"]);
    assert.equal(statSync(to).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(to)).mode & 0o777, 0o700);
    const copy = await openSqliteStore({ file: to, readOnly: true });
    assert.equal((await copy.transcript.tail("s", 1))[0]?.body, "in the log");
    await copy.close();
  });

  test("is a consistent snapshot of a store that another process keeps writing to", async () => {
    const file = await newFilledFile();
    const writer = spawn(process.execPath, ["--input-type=module", "-e", pairWriter(file)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(writer.stdout, "data");
    const counts: number[] = [];
    for (let turn = 0; turn < 8; turn++) {
      const to = `${file}.backup-${turn}`;
      assert.equal((await backupStore(file, to)).ok, true);
      const database = new DatabaseSync(to);
      const [left, right] = ["left", "right"].map((name) =>
        Number(database.prepare("SELECT count(*) AS total FROM transcript WHERE session_id = ?").get(name)?.["total"]),
      );
      database.close();
      // Both writes are queued in the same tick, so no snapshot has one without the other.
      assert.equal(left, right);
      counts.push(left ?? 0);
    }
    writer.kill("SIGKILL");
    await once(writer, "exit");
    assert.ok((counts.at(-1) ?? 0) > (counts[0] ?? 0), `the writer went on meanwhile: ${counts.join(" ")}`);
    assert.equal((await verifyStore(file)).ok, true);
  });

  test("rejects a damaged store and leaves no file behind", async () => {
    const file = await newFilledFile();
    const database = new DatabaseSync(file);
    database.exec("UPDATE transcript SET body = '{' WHERE n = 5");
    database.close();
    const to = join(dirname(file), "backups", "bad.sqlite");
    await assert.rejects(backupStore(file, to), { code: "store.damaged" });
    assert.deepEqual(readdirSync(dirname(to)), []);
  });

  test("never overwrites a file, and reports a missing store", async () => {
    const file = await newFilledFile();
    const to = `${file}.backup`;
    writeFileSync(to, "mine");
    await assert.rejects(backupStore(file, to), { code: "store.exists" });
    assert.equal(readFileSync(to, "utf8"), "mine");
    await assert.rejects(backupStore(`${file}.nobody`, `${file}.b2`), { code: "store.missing" });
  });
});

describe("restore", () => {
  test("replaces the store by the backup and keeps the old store with its log", async () => {
    const { file, backup } = await newBackup();
    await crashWithLog(file);
    const { report, replaced } = await restoreStore(backup, file);
    assert.equal(report.ok, true);
    assert.match(basename(replaced ?? ""), /^openclaw\.sqlite\.replaced-\d{8}T\d{6}Z$/);
    assert.deepEqual(await entriesOf(file), { "session-0": 40, later: 0 });
    assert.deepEqual(await entriesOf(replaced ?? ""), { "session-0": 40, later: 1 });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(
      readdirSync(dirname(file)).filter((name) => /restoring|\.part/.test(name)),
      [],
    );
  });

  test("restores into an empty folder, as on another machine", async () => {
    const { backup } = await newBackup();
    const file = join(dirname(newStoreFile()), "new", "openclaw.sqlite");
    mkdirSync(dirname(file));
    const restored = await restoreStore(backup, file);
    assert.equal("replaced" in restored, false);
    assert.deepEqual(await entriesOf(file), { "session-0": 40, later: 0 });
  });

  test("rejects a damaged archive before changing anything", async () => {
    const { file, backup } = await newBackup();
    truncateSync(backup, Math.floor(statSync(backup).size / 2));
    const before = {
      bytes: readFileSync(file),
      names: readdirSync(dirname(file)).filter((name) => !name.includes("lock")),
    };
    await assert.rejects(restoreStore(backup, file), { code: "store.damaged" });
    writeFileSync(backup, "not a store at all, but long enough to be looked at".repeat(100));
    await assert.rejects(restoreStore(backup, file), { code: "store.damaged" });
    assert.deepEqual(readFileSync(file), before.bytes);
    assert.deepEqual(
      readdirSync(dirname(file)).filter((name) => !name.includes("lock")),
      before.names,
    );
  });

  test("rejects a backup of a newer version", async () => {
    const { file, backup } = await newBackup();
    const database = new DatabaseSync(backup);
    database.exec("PRAGMA user_version = 99");
    database.close();
    await assert.rejects(restoreStore(backup, file), { code: "store.newer" });
  });

  test("fails while a gateway has the folder locked, and names its pid", async () => {
    const { file, backup } = await newBackup();
    const lock = acquireLock(stateLockOf(dirname(file)));
    await assert.rejects(restoreStore(backup, file), (error: unknown) => {
      assert.deepEqual(
        [(error as { code: string }).code, (error as { details: { pid: number } }).details.pid],
        ["lock.held", process.pid],
      );
      return true;
    });
    lock.release();
    await restoreStore(backup, file);
  });

  test("replaces a store that cannot be opened, and keeps its bytes", async () => {
    const { file, backup } = await newBackup();
    writeFileSync(file, Buffer.alloc(8192, 0xa5));
    writeFileSync(`${file}-wal`, "left by a crash");
    const { replaced } = await restoreStore(backup, file);
    assert.deepEqual(readFileSync(replaced ?? ""), Buffer.alloc(8192, 0xa5));
    assert.equal(readFileSync(`${replaced}-wal`, "utf8"), "left by a crash");
    assert.equal(existsSync(`${file}-wal`), false);
    assert.deepEqual(await entriesOf(file), { "session-0": 40, later: 0 });
  });
});

async function newBackup(): Promise<{ file: string; backup: string }> {
  const file = await newFilledFile();
  const backup = `${file}.backup`;
  await backupStore(file, backup);
  return { file, backup };
}

async function entriesOf(file: string): Promise<Record<string, number>> {
  const store = await openSqliteStore({ file });
  try {
    return { "session-0": await store.transcript.count("session-0"), later: await store.transcript.count("later") };
  } finally {
    await store.close();
  }
}

async function crashWithLog(file: string): Promise<void> {
  const script = `
    import { openSqliteStore } from ${here("sqlite.ts")};
    const store = await openSqliteStore({ file: ${JSON.stringify(file)} });
    await store.transcript.append("later", [{ id: "e", type: "message", at: 1, body: 1 }]);
    process.kill(process.pid, "SIGKILL");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  await once(child, "exit");
  assert.ok(statSync(`${file}-wal`).size > 0);
}

function pairWriter(file: string): string {
  return `
    import { openSqliteStore } from ${here("sqlite.ts")};
    const store = await openSqliteStore({ file: ${JSON.stringify(file)} });
    for (let index = 0; ; index++) {
      const entry = { id: "e" + index, type: "message", at: 1, body: "x".repeat(2000) };
      await Promise.all([store.transcript.append("left", [entry]), store.transcript.append("right", [entry])]);
      if (index === 10) process.stdout.write("writing\\n");
    }`;
}

function here(file: string): string {
  return JSON.stringify(new URL(file, import.meta.url).href);
}
