// The lock of a state folder, with real processes that die, stop and race. The full rounds: OPENCLAW_LOCK_ROUNDS=1000
// node --test src/base/lock.system.test.ts
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import { acquireLock, readLockOwner, stateLockOf, type Lock } from "./lock.ts";

const rounds = Number(process.env["OPENCLAW_LOCK_ROUNDS"] ?? 6);
const folder = mkdtempSync(join(tmpdir(), "lock-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let turn = 0;
const newLockFile = (): string => stateLockOf(join(folder, `state-${turn++}`));

test("rejects a second owner immediately, with the pid and port of the first", () => {
  const file = newLockFile();
  const lock = acquireLock(file);
  lock.describe({ port: 18789 });
  const refusal = refusalOf(() => acquireLock(file));
  assert.equal(refusal.code, "lock.held");
  const { pid, port } = refusal.details as { pid: number; port: number };
  assert.deepEqual({ pid, port }, { pid: process.pid, port: 18789 });
  lock.release();
  acquireLock(file).release();
});

test("releasing twice is harmless and does not free the next owner's lock", () => {
  const file = newLockFile();
  const first = acquireLock(file);
  first.release();
  const second = acquireLock(file);
  first.release();
  assert.equal(readLockOwner(file)?.pid, process.pid);
  assert.equal(refusalOf(() => acquireLock(file)).code, "lock.held");
  second.release();
  assert.equal(readLockOwner(file), undefined);
});

test("keeps the lock of another process, also while stopped, and releases it after kill -9", async (t) => {
  const file = newLockFile();
  for (let round = 0; round < 5; round++) {
    const holder = await startHolder(file);
    t.after(() => holder.kill("SIGKILL"));
    const refused = refusalOf(() => acquireLock(file));
    assert.deepEqual([refused.code, (refused.details as { pid: number }).pid], ["lock.held", holder.pid]);
    holder.kill("SIGSTOP");
    assert.equal(refusalOf(() => acquireLock(file)).code, "lock.held");
    holder.kill("SIGKILL");
    await once(holder, "exit");
    assert.equal(existsSync(`${file}.json`), true, "a killed owner leaves its word behind");
    assert.equal(readLockOwner(file), undefined, "but a dead one is not believed");
    acquireLock(file).release();
  }
});

test("exactly one of many processes that start together gets the lock, and the others learn its owner", async () => {
  for (let round = 0; round < 3; round++) {
    const file = newLockFile();
    const racers = Array.from({ length: 6 }, () => startProcess(file));
    try {
      const words = await Promise.all(racers.map((racer) => firstWord(racer)));
      const winner = racers[words.indexOf("held")]?.pid;
      assert.deepEqual(words.toSorted(), ["held", ...Array.from({ length: 5 }, () => `lock.held ${winner}`)]);
    } finally {
      for (const racer of racers) racer.kill("SIGKILL");
    }
  }
});

test("does not keep the lock for a reused pid", () => {
  const file = newLockFile();
  acquireLock(file).release();
  writeFileSync(`${file}.json`, JSON.stringify({ pid: process.ppid, startedAt: 1 }));
  const lock = acquireLock(file);
  assert.equal(readLockOwner(file)?.pid, process.pid);
  lock.release();
});

test("ignores a dead owner whose pid belongs to another process by now, in this boot or another", () => {
  const file = newLockFile();
  const lock = acquireLock(file);
  const said = JSON.parse(readFileSync(`${file}.json`, "utf8")) as { born?: string };
  lock.release();
  if (said.born === undefined) return; // a system that does not report the start time of a process
  const word = (born: string): void =>
    writeFileSync(`${file}.json`, JSON.stringify({ pid: process.ppid, startedAt: 1, port: 1, born }));
  for (const born of [said.born, "1@other-boot", said.born.replace(/@.*/, "@other-boot")]) {
    word(born);
    assert.equal(readLockOwner(file), undefined, born);
  }
});

test(
  `after ${rounds} owners that die, or stop and then die, the waiter continues as soon as they are dead, never before`,
  {
    timeout: 300_000 + rounds * 20_000,
  },
  async (t) => {
    const file = newLockFile();
    const waitedMs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const holder = await startHolder(file);
      t.after(() => holder.kill("SIGKILL"));
      const isStopped = round % 2 === 1;
      if (isStopped) holder.kill("SIGSTOP");
      for (let tries = 0; tries < 3; tries++) assert.equal(refusalOf(() => acquireLock(file)).code, "lock.held");
      let diedAt: number | undefined;
      setTimeout(() => {
        holder.kill("SIGKILL");
        diedAt = performance.now();
      }, Math.random() * 40);
      const lock = await waitFor(file);
      assert.ok(diedAt !== undefined, "not before it was dead");
      waitedMs.push(performance.now() - diedAt);
      // The next owner is reported, whatever the dead one had written.
      assert.equal(readLockOwner(file)?.pid, process.pid);
      lock.release();
    }
    const sorted = waitedMs.toSorted((a, b) => a - b);
    t.diagnostic(
      `${rounds} deaths, ${Math.floor(rounds / 2)} of them while stopped; waiter after death: median ${(sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1)} ms, worst ${(sorted.at(-1) ?? 0).toFixed(1)} ms`,
    );
  },
);

async function waitFor(file: string): Promise<Lock> {
  for (;;) {
    try {
      return acquireLock(file);
    } catch (error) {
      if (!(error instanceof OpenClawError && error.code === "lock.held")) throw error;
      await sleep(5);
    }
  }
}

test("ignores an unreadable owner file", () => {
  const file = newLockFile();
  const lock = acquireLock(file);
  for (const said of ["", "{", "[]", '{"pid":-1,"startedAt":1}', '{"pid":"1"}', "null"]) {
    writeFileSync(`${file}.json`, said);
    assert.equal(readLockOwner(file), undefined);
    assert.equal(refusalOf(() => acquireLock(file)).code, "lock.held");
  }
  lock.release();
});

test("creates private files", () => {
  const file = newLockFile();
  const before = process.umask(0);
  try {
    const lock = acquireLock(file);
    const modes = [file, `${file}.json`, join(file, "..")].map((path) => (statSync(path).mode & 0o777).toString(8));
    assert.deepEqual(modes, ["600", "600", "700"]);
    assert.equal(statSync(file).size, 0);
    lock.release();
  } finally {
    process.umask(before);
  }
});

function refusalOf(act: () => unknown): OpenClawError {
  try {
    act();
  } catch (error) {
    if (error instanceof OpenClawError) return error;
    throw error;
  }
  return assert.fail("it was not refused");
}

async function startHolder(file: string): Promise<ChildProcess> {
  const child = startProcess(file);
  assert.equal(await firstWord(child), "held");
  return child;
}

function startProcess(file: string): ChildProcess {
  const script = `
    import { acquireLock } from ${JSON.stringify(new URL("lock.ts", import.meta.url).href)};
    try {
      // The caller drops the returned lock; it must survive garbage collection.
      acquireLock(${JSON.stringify(file)});
      globalThis.gc();
      process.stdout.write("held\\n");
      setInterval(() => {}, 1000);
    } catch (error) {
      process.stdout.write(error.code + " " + error.details?.pid + "\\n");
    }`;
  return spawn(process.execPath, ["--expose-gc", "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function firstWord(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return chunk.toString().trim();
}
