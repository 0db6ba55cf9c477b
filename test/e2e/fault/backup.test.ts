// F38: backup and restore: of a store under load, onto another machine, and of archives that were damaged on the way.
// The full rounds: OPENCLAW_BACKUP_ROUNDS=100 node --test test/e2e/fault/backup.test.ts
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { OpenClawError } from "../../../src/core/error.ts";
import { backupStore } from "../../../src/store/backup.ts";
import { restoreStore } from "../../../src/store/restore.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import type { StoredEntry } from "../../../src/store/store.ts";
import { verifyStore } from "../../../src/store/verify.ts";
import { dispose, openclaw, operator, startGateway, tempHome } from "../../harness/gateway.ts";

const rounds = Number(process.env["OPENCLAW_BACKUP_ROUNDS"] ?? 3);
const writerFile = fileURLToPath(new URL("../../fixtures/store-writer.ts", import.meta.url));
const cache = { XDG_CACHE_HOME: join(tmpdir(), "openclaw-test-cache") };
const SESSIONS = 10;

/** A process that appends to ten sessions; `acknowledged` is what it had said so far. */
function startWriter(file: string): {
  acknowledged(): Map<string, number>;
  started: Promise<unknown>;
  kill(): Promise<void>;
} {
  const child = spawn(process.execPath, [writerFile, file, String(SESSIONS)], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return {
    started: once(child.stdout, "data"),
    acknowledged() {
      const lines = output.slice(0, output.lastIndexOf("\n") + 1).split("\n");
      return new Map(
        lines.flatMap((line) => {
          const [session = "", last] = line.split(" ");
          return last === undefined ? [] : [[session, Number(last)] as const];
        }),
      );
    },
    async kill() {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

async function entriesIn(file: string): Promise<Map<string, StoredEntry[]>> {
  const store = await openSqliteStore({ file, onDamage: (damage) => assert.fail(JSON.stringify(damage)) });
  const all = new Map<string, StoredEntry[]>();
  for (let index = 0; index < SESSIONS; index++)
    all.set(`s${index}`, await store.transcript.tail(`s${index}`, 1_000_000));
  await store.close();
  return all;
}

test(
  `${rounds} backups of a store under load, restored elsewhere, hold one moment each without a missing acknowledged append`,
  { timeout: 600_000 + rounds * 30_000 },
  async (t) => {
    const home = tempHome();
    t.after(() => rmSync(home, { recursive: true, force: true }));
    let writer: ReturnType<typeof startWriter> | undefined;
    t.after(() => writer?.kill());
    let total = 0;
    for (let round = 0; round < rounds; round++) {
      // A new store now and then, so that the last rounds are not about its size.
      const file = join(home, `store-${Math.floor(round / 5)}.sqlite`);
      if (round % 5 === 0) {
        await writer?.kill();
        writer = startWriter(file);
        await writer.started;
      }
      const before = writer?.acknowledged() ?? new Map<string, number>();
      const archive = join(home, `backup-${round}.sqlite`);
      assert.equal((await backupStore(file, archive)).ok, true);
      assert.equal(statSync(archive).mode & 0o077, 0);
      const elsewhere = join(home, `machine-${round}`);
      mkdirSync(elsewhere, { mode: 0o700 });
      await restoreStore(archive, join(elsewhere, "openclaw.sqlite"));
      const restored = await entriesIn(join(elsewhere, "openclaw.sqlite"));
      for (const [session, found] of restored) {
        assert.ok(found.length >= (before.get(session) ?? 0), `${session}: ${found.length} of ${before.get(session)}`);
        assert.deepEqual(
          found.map(({ seq }) => seq),
          found.map((_, index) => index + 1),
        );
        const last = found.at(-1)?.body as { first: number; size: number } | undefined;
        if (last !== undefined) assert.equal(last.first + last.size - 1, found.length, "no append is there in part");
        total += found.length;
      }
      assert.equal((await verifyStore(join(elsewhere, "openclaw.sqlite"))).ok, true);
      rmSync(elsewhere, { recursive: true });
      rmSync(archive);
    }
    t.diagnostic(`${rounds} backups under load, ${total} entries restored and compared, 0 missing`);
  },
);

test(
  `${rounds * 10} damaged archives are refused before any change, or restore the same content`,
  { timeout: 600_000 + rounds * 20_000 },
  async (t) => {
    const home = tempHome();
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const [file, archive, place] = [
      join(home, "store.sqlite"),
      join(home, "archive"),
      join(home, "state", "openclaw.sqlite"),
    ];
    const writer = startWriter(file);
    await writer.started;
    while ([...writer.acknowledged().values()].reduce((sum, last) => sum + last, 0) < 300) await sleep(20);
    await writer.kill();
    await backupStore(file, archive);
    const [bytes, wanted] = [readFileSync(archive), await entriesIn(file)];
    const own = await openSqliteStore({ file: place });
    await own.kv.set("mine", "k", "stays");
    await own.close();
    const mine = readFileSync(place);
    const seen = { refused: 0, same: 0 };
    for (let round = 0; round < rounds * 10; round++) {
      const damaged = join(home, "damaged");
      rmSync(damaged, { force: true });
      writeFileSync(damaged, harmed(bytes, round));
      try {
        const { replaced } = await restoreStore(damaged, place);
        assert.deepEqual(await entriesIn(place), wanted, "damage nobody could see changed nothing");
        const old = await openSqliteStore({ file: replaced ?? "" });
        assert.equal(await old.kv.get("mine", "k"), "stays", "what was there is kept beside it");
        await old.close();
        for (const end of ["", "-wal", "-shm"]) rmSync(place + end, { force: true });
        writeFileSync(place, mine, { mode: 0o600 });
        seen.same += 1;
      } catch (error) {
        if (!(error instanceof OpenClawError)) throw error;
        assert.match(error.code, /^store\./);
        assert.deepEqual(readFileSync(place), mine);
        assert.equal(existsSync(`${place}.restoring`), false);
        seen.refused += 1;
      }
    }
    assert.ok(seen.refused > 0);
    t.diagnostic(`${seen.refused} refused, ${seen.same} where the damage touched no record`);
  },
);

/** Cut, overwritten, a bit turned around, or two halves swapped. */
function harmed(bytes: Buffer, round: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = Math.floor(Math.random() * copy.length);
  if (round % 4 === 0) return copy.subarray(0, at);
  if (round % 4 === 1) return copy.fill(0x5a, at, Math.min(copy.length, at + 4096));
  if (round % 4 === 2) return Buffer.concat([copy.subarray(at - (at % 4096)), copy.subarray(0, at - (at % 4096))]);
  copy[at] = (copy[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8));
  return copy;
}

test(
  "a backup made beside a running gateway, restored into an empty home, starts with all its sessions",
  { timeout: 600_000 },
  async (t) => {
    const gateway = await startGateway();
    t.after(() => dispose(gateway));
    const wire = await operator(gateway);
    for (let i = 0; i < 20; i++) {
      await wire.request("sessions.patch", { key: `agent:main:b${i}`, label: `b${i}` });
      await wire.request("chat.inject", { sessionKey: `agent:main:b${i}`, message: `note ${i}` });
    }
    wire.end();
    const archive = join(gateway.home, "backup.sqlite");
    const made = await openclaw(gateway.home, ["store", "backup", archive], cache);
    assert.equal(made.code, 0, made.stderr);
    const other = tempHome();
    const restored = await openclaw(other, ["store", "restore", archive], cache);
    assert.equal(restored.code, 0, restored.stderr);
    const second = await startGateway({ home: other });
    t.after(() => dispose(second));
    const there = await operator(second);
    for (let i = 0; i < 20; i++) {
      const { payload } = await there.request("chat.history", { sessionKey: `agent:main:b${i}` });
      assert.match(JSON.stringify(payload), new RegExp(`note ${i}"`));
    }
    there.end();
    const refusal = await openclaw(other, ["store", "restore", archive], cache);
    assert.notEqual(refusal.code, 0, "not under a gateway that runs");
  },
);
