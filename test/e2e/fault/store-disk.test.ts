// Disks that are full, read-only or fail to flush (F3) under a store: refused by name, nothing old touched, well again after.
// 500 full disks: OPENCLAW_FAULT_ROUNDS=5000 node --test test/e2e/fault/store-disk.test.ts
import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, test } from "node:test";

import { backupStore } from "../../../src/store/backup.ts";
import { migrateStore } from "../../../src/store/migrate.ts";
import { migrations } from "../../../src/store/migrations/list.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifyStore } from "../../../src/store/verify.ts";
import { assertSound, mountSmall, newFile, rounds, startWriter } from "../../harness/store.ts";

describe("a full disk", () => {
  test("refuses new writes by name, keeps old data, and continues when there is space again", async (t) => {
    const folder = mountSmall(t, "3m");
    if (folder === undefined) return;
    const file = join(folder, "openclaw.sqlite");
    const ballast = join(folder, "ballast");
    writeFileSync(ballast, Buffer.alloc(1_000_000));
    const store = await openSqliteStore({ file });
    const kept = await fillUp(store);
    assert.ok(kept > 10);
    assert.equal(await store.transcript.count("s"), kept, "all that was acknowledged, nothing else");
    await assert.rejects(store.kv.set("s", "k", "x".repeat(100_000)), { code: "store.full", details: { file } });
    assert.equal((await store.transcript.tail("s", 5)).length, 5, "reading goes on");
    rmSync(ballast);
    assert.equal(await store.transcript.append("s", [entryOf(kept)]), kept + 1);
    await store.close();
    await assertSound(file);
    t.diagnostic(`${kept} entries acknowledged before the disk was full, all there`);
  });

  test("rejects only the big write that does not fit", async (t) => {
    const folder = mountSmall(t, "3m");
    if (folder === undefined) return;
    const store = await openSqliteStore({ file: join(folder, "openclaw.sqlite") });
    const outcomes = await Promise.allSettled([
      store.kv.set("s", "before", 1),
      store.kv.set("s", "huge", "x".repeat(8_000_000)),
      store.kv.set("s", "after", 2),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === "fulfilled" ? "kept" : (outcome.reason as { code: string }).code)),
      ["kept", "store.full", "kept"],
    );
    assert.deepEqual(await store.kv.list("s"), [
      { key: "after", value: 2 },
      { key: "before", value: 1 },
    ]);
    await store.close();
  });

  test("survives processes that fail or are killed on it, over and over", async (t) => {
    const folder = mountSmall(t, "3m");
    if (folder === undefined) return;
    const file = join(folder, "openclaw.sqlite");
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < Math.max(5, rounds / 10); round++) {
      const ballast = join(folder, "ballast");
      writeFileSync(ballast, Buffer.alloc(Math.floor(Math.random() * 0.5 * freeBytes(folder))));
      const writer = startWriter(file, "5", "s", "2000", "ignore");
      await Promise.race([writer.stopped, sleep(150 + Math.random() * 150)]);
      for (const { session, last } of await writer.kill()) acknowledged.set(session, last);
      rmSync(ballast);
      const store = await openSqliteStore({ file });
      for (const [session, last] of acknowledged) assert.ok((await store.transcript.count(session)) >= last);
      await store.close();
      await assertSound(file);
    }
  });

  test("without free inodes existing files stay writable, a backup is refused by name, and it recovers", async (t) => {
    const folder = mountSmall(t, "8m,nr_inodes=12");
    if (folder === undefined) return;
    const file = join(folder, "openclaw.sqlite");
    const store = await openSqliteStore({ file });
    await store.kv.set("s", "before", 1);
    const made = takeNames(folder);
    await store.kv.set("s", "during", 2);
    await assert.rejects(backupStore(file, join(folder, "backup.sqlite")), { code: "store.full" });
    await store.close();
    made.push(...takeNames(folder));
    // It needs a name for its log: refused, and untouched.
    await assert.rejects(openSqliteStore({ file }), { code: "store.full" });
    for (const name of made) rmSync(name);
    const again = await openSqliteStore({ file });
    assert.deepEqual(await again.kv.list("s"), [
      { key: "before", value: 1 },
      { key: "during", value: 2 },
    ]);
    await again.close();
    assert.equal((await verifyStore(file)).ok, true);
  });

  test("is detected before a migration or a backup begins, which then changes nothing", async (t) => {
    const folder = mountSmall(t, "6m");
    if (folder === undefined) return;
    const file = join(folder, "openclaw.sqlite");
    const store = await openSqliteStore({ file });
    for (let index = 0; index < 20; index++) await store.kv.set("s", `k${index}`, "x".repeat(100_000));
    await store.close();
    writeFileSync(join(folder, "ballast"), Buffer.alloc(2_000_000));
    const before = readFileSync(file);
    const next = [
      ...migrations,
      { version: migrations.length + 1, name: "more", up: "CREATE TABLE more (a TEXT) STRICT;" },
    ];
    assert.throws(() => migrateStore(file, { migrations: next }), { code: "store.full" });
    await assert.rejects(backupStore(file, join(folder, "backup.sqlite")), { code: "store.full" });
    assert.deepEqual(readFileSync(file), before);
  });

  function takeNames(folder: string): string[] {
    const made: string[] = [];
    for (;;) {
      const name = join(folder, `name-${Math.random()}`);
      try {
        writeFileSync(name, "");
        made.push(name);
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
        return made;
      }
    }
  }

  function freeBytes(folder: string): number {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  }

  async function fillUp(store: Store): Promise<number> {
    for (let kept = 0; ; kept++) {
      try {
        await store.transcript.append("s", [entryOf(kept)]);
      } catch (error) {
        assert.equal((error as { code: string }).code, "store.full");
        return kept;
      }
    }
  }

  function entryOf(index: number): { id: string; type: string; at: number; body: unknown } {
    return { id: `e${index}`, type: "message", at: index, body: "x".repeat(10_000) };
  }
});

describe("a read-only disk", () => {
  test("refuses by path, changes nothing, and can still be read", async (t) => {
    const folder = mountSmall(t, "3m");
    if (folder === undefined) return;
    const file = join(folder, "state", "openclaw.sqlite");
    const store = await openSqliteStore({ file });
    await store.kv.set("s", "k", 1);
    await store.close();
    execFileSync("mount", ["-o", "remount,ro", folder]);
    await assert.rejects(openSqliteStore({ file }), { code: "store.read-only", details: { file } });
    await assert.rejects(openSqliteStore({ file: join(folder, "other", "openclaw.sqlite") }), {
      code: "store.read-only",
    });
    const reader = await openSqliteStore({ file, readOnly: true });
    assert.equal(await reader.kv.get("s", "k"), 1);
    await reader.close();
    assert.equal((await verifyStore(file)).ok, true);
  });
});

describe("a disk that fails to flush", () => {
  test("stops acknowledging writes: everything acknowledged before is stored", async (t) => {
    if (!canTrace()) return t.skip("needs strace to make flushes fail");
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const script = `
      import { openSqliteStore } from ${JSON.stringify(new URL("../../../src/store/sqlite.ts", import.meta.url).href)};
      const store = await openSqliteStore({ file: ${JSON.stringify(file)} });
      const outcomes = [];
      for (let index = 0; index < 30; index++) {
        await store.kv.set("s", "k" + index, index).then(() => outcomes.push("kept"), (error) => outcomes.push(error.code));
      }
      process.stdout.write(JSON.stringify(outcomes));
      process.kill(process.pid, "SIGKILL");`;
    // The tenth flush fails; all later ones would succeed, and must not be asked.
    const outcomes = JSON.parse(await runTraced("error=EIO:when=10", script)) as string[];
    const kept = outcomes.indexOf("store.io");
    assert.ok(kept > 0 && kept < 30, outcomes.join(" "));
    assert.deepEqual(
      outcomes,
      outcomes.map((_, index) => (index < kept ? "kept" : "store.io")),
    );
    const store = await openSqliteStore({ file });
    const there = (await store.kv.list("s")).map(({ value }) => Number(value)).toSorted((one, two) => one - two);
    // The one whose flush failed is in doubt: it was not acknowledged, and may or may not be there.
    assert.ok(there.length === kept || there.length === kept + 1);
    assert.deepEqual(there, [...there.keys()]);
    await store.kv.set("s", "after", "reopened");
    await store.close();
    await assertSound(file);
  });
});

describe("a disk that is slow to flush", () => {
  test("holds up the acknowledgment and reads of what is not flushed, not the rest of the process", async (t) => {
    if (!canTrace()) return t.skip("needs strace to make flushes slow");
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const script = `
      import { openSqliteStore } from ${JSON.stringify(new URL("../../../src/store/sqlite.ts", import.meta.url).href)};
      const store = await openSqliteStore({ file: ${JSON.stringify(file)} });
      // The first write to a log makes it, which is flushed on the spot.
      await store.kv.set("s", "first", 0);
      let [turns, order] = [0, []];
      const ticking = setInterval(() => turns++, 5);
      const written = store.kv.set("s", "k", 1).then(() => order.push("written"));
      await new Promise((resolve) => setTimeout(resolve, 50));
      await Promise.all([written, store.kv.get("s", "k").then((value) => order.push("read " + value))]);
      clearInterval(ticking);
      await store.close();
      process.stdout.write(JSON.stringify({ order, isFree: turns > 10 }));`;
    assert.deepEqual(JSON.parse(await runTraced("delay_enter=300000", script)), {
      order: ["written", "read 1"],
      isFree: true,
    });
  });
});

/** Runs a script whose flushes are tampered with. */
function runTraced(fault: string, script: string): Promise<string> {
  const traced = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e"];
  const words = [...traced, `inject=fdatasync,fsync:${fault}`, process.execPath, "--input-type=module", "-e", script];
  // One thread that flushes, because strace counts the calls of each thread apart.
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  return outputOf(spawn("strace", words, { stdio: ["ignore", "pipe", "inherit"], env }));
}

function canTrace(): boolean {
  try {
    execFileSync("strace", ["-qq", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO:when=9999", "true"], {
      stdio: "pipe",
    });
    return true;
  } catch (error) {
    return error === undefined;
  }
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await once(child, "close");
  return output;
}
