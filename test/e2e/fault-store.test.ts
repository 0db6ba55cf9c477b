// Faults under the store: killed processes (F1), torn logs and files (F2), full and read-only disks (F3), failing flushes,
// two processes at once. The full rounds, 5,000 kills, every offset and 500 full disks:
// OPENCLAW_FAULT_ROUNDS=5000 node --test test/e2e/fault-store.test.ts
import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, describe, test, type TestContext } from "node:test";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { backupStore } from "../../src/store/backup.ts";
import { migrateStore } from "../../src/store/migrate.ts";
import { migrations } from "../../src/store/migrations/list.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import { salvageStore } from "../../src/store/salvage.ts";
import type { Store, StoredEntry } from "../../src/store/store.ts";
import type { TornLog } from "../../src/store/torn-log.ts";
import { verifyStore } from "../../src/store/verify.ts";

const rounds = Number(process.env["OPENCLAW_FAULT_ROUNDS"] ?? 40);
const writerFile = fileURLToPath(new URL("../fixtures/store-writer.ts", import.meta.url));
const sessionNames = Array.from({ length: 20 }, (_, index) => `s${index}`);

describe("a process that is killed", () => {
  test(`loses nothing it acknowledged, over ${rounds} kills`, async (t) => {
    const file = newFile();
    const acknowledged = new Map<string, number>();
    const openMs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const writer = startWriter(file, "20");
      await writer.ready;
      await sleep(Math.random() * 120);
      const lines = await writer.kill();
      for (const { session, last } of lines) {
        assert.ok(last > (acknowledged.get(session) ?? 0), "acknowledged in order");
        acknowledged.set(session, last);
      }
      openMs.push(await checkAfterKill(file, acknowledged));
    }
    const report = await verifyStore(file);
    assert.deepEqual(
      report.checks.filter(({ ok }) => !ok),
      [],
    );
    const total = [...acknowledged.values()].reduce((sum, last) => sum + last, 0);
    t.diagnostic(`${rounds} kills, ${total} acknowledged entries in ${acknowledged.size} sessions, 0 lost`);
    t.diagnostic(`reopening: median ${median(openMs).toFixed(1)} ms, worst ${Math.max(...openMs).toFixed(1)} ms`);
  });
});

/** Every acknowledged entry is there, whole and in its place; what was not acknowledged is there as whole appends or not at all. */
async function checkAfterKill(file: string, acknowledged: ReadonlyMap<string, number>): Promise<number> {
  const started = performance.now();
  const store = await openSqliteStore({ file, onDamage: (damage) => assert.fail(JSON.stringify(damage)) });
  const tookMs = performance.now() - started;
  for (const session of sessionNames) {
    const count = await store.transcript.count(session);
    assert.ok(
      count >= (acknowledged.get(session) ?? 0),
      `${session}: ${count} entries, ${acknowledged.get(session)} acknowledged`,
    );
    const tail = await store.transcript.tail(session, 200);
    for (const [index, entry] of tail.entries()) assertWhole(session, entry, count - tail.length + index + 1);
    const last = tail.at(-1)?.body as { first: number; size: number } | undefined;
    assert.equal(last === undefined ? 0 : last.first + last.size - 1, count, "the last append is there as a whole");
  }
  await store.close();
  const report = await verifyStore(file);
  assert.deepEqual(
    report.checks.filter(({ ok }) => !ok),
    [],
  );
  return tookMs;
}

function assertWhole(session: string, entry: StoredEntry, seq: number): void {
  const { first, size } = entry.body as { first: number; size: number };
  assert.deepEqual(entry, {
    id: `${session}-${seq}`,
    type: "message",
    at: seq,
    seq,
    body: { first, size, text: "x".repeat(60) },
  });
}

describe("a torn log", () => {
  // The guarantee is for every offset; a run of the usual length takes every thirteenth.
  const stride = rounds >= 500 ? 1 : 13;
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

  test("overwritten at any place of its last 4 kB: the same", async () => {
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
    const report = await verifyStore(copy);
    assert.deepEqual(
      report.checks.filter(({ ok }) => !ok),
      [],
    );
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
  const stride = rounds >= 500 ? 1 : 41;
  test(`cut while its log is folded in: all is there (stride ${stride})`, async () => {
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

  test(`cut with no log beside it: every lost record is named, every other is saved whole (stride ${stride})`, async (t) => {
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
    // A reader keeps the log from being begun anew; a passive fold still writes the file.
    reader.exec("PRAGMA wal_checkpoint(PASSIVE)");
    const copy = newFile();
    for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
    reader.close();
    await store.close();
    return { file: copy, total: 60 };
  }
});

describe("a full disk", () => {
  test("refuses new writes by name, touches nothing old, and goes on when there is room again", async (t) => {
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
    assert.deepEqual(
      (await verifyStore(file)).checks.filter(({ ok }) => !ok),
      [],
    );
    t.diagnostic(`${kept} entries acknowledged before the disk was full, all there`);
  });

  test("a big write that does not fit does not take its neighbours with it", async (t) => {
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

  test("survives a process that dies of it, or is killed before, over and over", async (t) => {
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
      assert.deepEqual(
        (await verifyStore(file)).checks.filter(({ ok }) => !ok),
        [],
      );
    }
  });

  test("no names left (inodes): writes to what is there go on, a backup is refused by name, and it heals", async (t) => {
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

  test("is seen before a migration or a backup begins, which then touches nothing", async (t) => {
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

describe("a disk that may not be written", () => {
  test("refuses by path, changes nothing, and can still be looked at", async (t) => {
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
  test("ends the acknowledging: what was said to be kept before is there, nothing is said to be kept after", async (t) => {
    if (!canTrace()) return t.skip("needs strace to make flushes fail");
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const script = `
      import { openSqliteStore } from ${JSON.stringify(new URL("../../src/store/sqlite.ts", import.meta.url).href)};
      const store = await openSqliteStore({ file: ${JSON.stringify(file)} });
      const outcomes = [];
      for (let index = 0; index < 30; index++) {
        await store.kv.set("s", "k" + index, index).then(() => outcomes.push("kept"), (error) => outcomes.push(error.code));
      }
      process.stdout.write(JSON.stringify(outcomes));
      process.kill(process.pid, "SIGKILL");`;
    // The tenth flush fails; all later ones would succeed, and must not be asked.
    const traced = [
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      "trace=fdatasync,fsync",
      "-e",
      "inject=fdatasync,fsync:error=EIO:when=10",
    ];
    const child = spawn("strace", [...traced, process.execPath, "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const outcomes = JSON.parse(await outputOf(child)) as string[];
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
    assert.deepEqual(
      (await verifyStore(file)).checks.filter(({ ok }) => !ok),
      [],
    );
  });
});

describe("two processes on one store", () => {
  test("write side by side, with readers and checks in between, and neither loses or breaks anything", async (t) => {
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const writers = [startWriter(file, "5", "a"), startWriter(file, "5", "b")];
    await Promise.all(writers.map((writer) => writer.ready));
    for (let turn = 0; turn < 10; turn++) {
      const reader = await openSqliteStore({ file, readOnly: true });
      await reader.transcript.tail("a0", 20);
      await reader.close();
      assert.deepEqual(
        (await verifyStore(file)).checks.filter(({ ok }) => !ok),
        [],
      );
    }
    const lines = (await Promise.all(writers.map((writer) => writer.kill()))).flat();
    const store = await openSqliteStore({ file });
    for (const { session, last } of lines) assert.ok((await store.transcript.count(session)) >= last);
    await store.close();
    assert.deepEqual(
      (await verifyStore(file)).checks.filter(({ ok }) => !ok),
      [],
    );
    t.diagnostic(`${lines.length} appends acknowledged by two processes, 0 lost`);
  });
});

interface Line {
  readonly session: string;
  readonly last: number;
}

interface Writer {
  readonly ready: Promise<void>;
  readonly stopped: Promise<void>;
  atLeast(lines: number): Promise<void>;
  /** Kills it and gives every append it had acknowledged. */
  kill(): Promise<Line[]>;
}

function startWriter(
  file: string,
  sessions: string,
  prefix = "s",
  bytes = "60",
  stderr: "inherit" | "ignore" = "inherit",
): Writer {
  const child = spawn(process.execPath, [writerFile, file, sessions, prefix, bytes], {
    stdio: ["ignore", "pipe", stderr],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, "close");
  const linesOf = (): Line[] =>
    output
      .slice(0, output.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line !== "" && line !== "ready")
      .map((line) => ({ session: line.split(" ")[0] ?? "", last: Number(line.split(" ")[1]) }));
  const until = async (isThere: () => boolean): Promise<void> => {
    const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
    while (!isThere() && isRunning()) await Promise.race([once(child.stdout, "data"), closed]);
  };
  return {
    ready: until(() => output.includes("ready\n")),
    stopped: closed.then(() => {}),
    atLeast: (count) => until(() => linesOf().length >= count),
    async kill() {
      child.kill("SIGKILL");
      await closed;
      return linesOf();
    },
  };
}

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "fault-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "openclaw.sqlite");
}

/** A small disk of its own; undefined, with the test skipped, where that cannot be had. */
function mountSmall(t: TestContext, size: string): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "fault-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    rmSync(folder, { recursive: true });
    t.skip(`needs the right to mount a small tmpfs (${String(error).split("\n")[0]})`);
    return undefined;
  }
  t.after(() => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
