// F6: what is derived is lost, stale or not ours: indexes, the index of the log, files that are missing or extra. The records
// are all there, and the indexes are rebuilt from them.
// The full rounds, with 100,000 sessions: OPENCLAW_INDEX_ROUNDS=200 node --test test/e2e/fault/index.test.ts
import assert from "node:assert/strict";
import { closeSync, copyFileSync, existsSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";

import { rebuildStore } from "../../../src/store/rebuild.ts";
import { openSqliteStore } from "../../../src/store/sqlite.ts";
import type { SessionKey } from "../../../src/core/names.ts";
import type { Store } from "../../../src/store/store.ts";
import { verifyStore } from "../../../src/store/verify.ts";
import { dispose, openclaw, operator, startGateway, tempHome } from "../../harness/gateway.ts";

const rounds = Number(process.env["OPENCLAW_INDEX_ROUNDS"] ?? 5);
const SESSIONS = rounds >= 200 ? 100_000 : 1000;
const PAGE_BYTES = 4096;
const cache = { XDG_CACHE_HOME: join(tmpdir(), "openclaw-test-cache") };

const keyOf = (n: number): SessionKey => `agent:main:s${n}` as SessionKey;

async function newStore(home: string, sessions: number): Promise<string> {
  const file = join(home, "openclaw.sqlite");
  const store = await openSqliteStore({ file });
  const session = (n: number) => ({
    key: keyOf(n),
    agentId: "main" as never,
    sessionId: `id-${n}`,
    createdAt: n,
    updatedAt: n,
    label: `label ${n}`,
    entry: {},
  });
  for (let from = 0; from < sessions; from += 1000) {
    const some = Array.from({ length: Math.min(1000, sessions - from) }, (_, at) => from + at);
    await Promise.all(some.map((n) => store.sessions.put(session(n))));
    await Promise.all(
      some
        .filter((n) => n % 10 === 0)
        .map((n) => store.transcript.append(`id-${n}`, [{ id: `e${n}`, type: "message", at: n, body: n }])),
    );
  }
  await store.close();
  return file;
}

/** All of it, by every way it can be asked for. */
async function pictureOf(store: Store, sessions: number): Promise<unknown> {
  const listed: string[] = [];
  for (let before: { updatedAt: number; key: SessionKey } | undefined; ;) {
    const page = await store.sessions.list({ limit: 5000, ...(before === undefined ? {} : { before }) });
    listed.push(...page.map(({ key }) => key));
    const last = page.at(-1);
    if (last === undefined) break;
    before = last;
  }
  const some = Array.from({ length: 50 }, (_, at) => Math.floor((at * sessions) / 50));
  return {
    count: await store.sessions.count(),
    listed: new Set(listed).size,
    byKey: await Promise.all(some.map(async (n) => (await store.sessions.get(keyOf(n)))?.label)),
    byId: await Promise.all(some.map(async (n) => (await store.sessions.byId(`id-${n}`))?.key)),
    byLabel: await Promise.all(some.map(async (n) => (await store.sessions.list({ label: `label ${n}` })).length)),
    tails: await Promise.all(
      some.map(async (n) => (await store.transcript.tail(`id-${n - (n % 10)}`, 5)).map(({ body }) => body)),
    ),
  };
}

function pagesOf(file: string): { name: string; page: number }[] {
  const database = new DatabaseSync(file);
  try {
    return database
      .prepare(
        "SELECT s.name AS name, s.pageno AS page FROM dbstat s JOIN sqlite_schema m ON m.name = s.name WHERE m.type = 'index'",
      )
      .all()
      .map((row) => ({ name: String(row["name"]), page: Number(row["page"]) }));
  } finally {
    database.close();
  }
}

test(
  `${rounds} damaged or stale indexes over ${SESSIONS} sessions are detected and rebuilt without loss`,
  {
    timeout: 600_000 + rounds * 60_000,
  },
  async (t) => {
    const home = tempHome();
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const file = await newStore(home, SESSIONS);
    const pages = pagesOf(file);
    const whole = await openSqliteStore({ file });
    const wanted = await pictureOf(whole, SESSIONS);
    const from = performance.now();
    await whole.sessions.list({ limit: 200 });
    const listMs = performance.now() - from;
    await whole.close();
    const harmedNames = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      const copy = join(home, "harmed.sqlite");
      for (const end of ["", "-wal", "-shm"]) rmSync(copy + end, { force: true });
      copyFileSync(file, copy);
      harmedNames.add(round % 3 === 2 ? forgetEntries(copy) : overwrite(copy, pages, round % 3 === 1));
      const report = await verifyStore(copy);
      assert.equal(report.ok, false, "seen");
      assert.deepEqual(report.damages, [], "no record is harmed");
      const { replaced } = await rebuildStore(copy, { lockFile: join(home, "lock") });
      assert.ok(existsSync(replaced ?? ""), "the old file is kept");
      rmSync(replaced ?? "");
      const store = await openSqliteStore({ file: copy, onDamage: (damage) => assert.fail(JSON.stringify(damage)) });
      assert.deepEqual(await pictureOf(store, SESSIONS), wanted);
      await store.close();
      assert.equal((await verifyStore(copy)).ok, true);
    }
    t.diagnostic(
      `${rounds} times, ${harmedNames.size} different indexes, ${SESSIONS} sessions, 0 lost; a list of 200 took ${listMs.toFixed(1)} ms`,
    );
  },
);

/** Garbage over a page of an index, or zeros. */
function overwrite(file: string, pages: readonly { name: string; page: number }[], zeros: boolean): string {
  const chosen = pages[Math.floor(Math.random() * pages.length)];
  assert.ok(chosen !== undefined);
  const fd = openSync(file, "r+");
  writeSync(fd, Buffer.alloc(PAGE_BYTES, zeros ? 0 : 0x5a), 0, PAGE_BYTES, (chosen.page - 1) * PAGE_BYTES);
  closeSync(fd);
  return chosen.name;
}

/** An index that has not heard of some sessions: well formed, and stale. */
function forgetEntries(file: string): string {
  const database = new DatabaseSync(file);
  database.enableDefensive?.(false);
  const sql = database.prepare("SELECT sql FROM sqlite_schema WHERE name = 'sessions_by_time'").get();
  // Rebuilt with a condition that leaves some rows out, then given its old name and SQL back.
  database.exec("DROP INDEX sessions_by_time");
  database.exec("CREATE INDEX sessions_by_time ON sessions (updated_at DESC, key, haystack) WHERE updated_at % 7 <> 0");
  database.exec("PRAGMA writable_schema = ON");
  database.prepare("UPDATE sqlite_schema SET sql = ? WHERE name = 'sessions_by_time'").run(String(sql?.["sql"]));
  database.close();
  return "sessions_by_time (stale)";
}

test(
  `${rounds} times the index of the log is missing, garbage or another store's: it is rebuilt from the log`,
  { timeout: 600_000 + rounds * 10_000 },
  async (t) => {
    const home = tempHome();
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const file = await newStore(home, 200);
    const crashed = join(home, "crashed.sqlite");
    const live = await openSqliteStore({ file });
    for (let n = 0; n < 50; n++)
      await live.transcript.append("log", [{ id: `l${n}`, type: "message", at: n, body: n }]);
    for (const end of ["", "-wal", "-shm"]) copyFileSync(file + end, crashed + end);
    await live.close();
    for (let round = 0; round < rounds; round++) {
      const copy = join(home, "copy.sqlite");
      for (const end of ["", "-wal", "-shm"]) copyFileSync(crashed + end, copy + end);
      const shm = readFileSync(`${copy}-shm`);
      if (round % 3 === 0) rmSync(`${copy}-shm`);
      else
        writeFileSync(
          `${copy}-shm`,
          round % 3 === 1 ? Buffer.alloc(shm.length, 0x5a) : shm.subarray(0, Math.floor(Math.random() * shm.length)),
        );
      // Files an interrupted migration, restore or backup may leave beside it are nobody's business.
      for (const end of [".migrating", ".restoring", ".x.part", "-journal.old"])
        writeFileSync(copy + end, "not a store");
      const store = await openSqliteStore({ file: copy, onDamage: (damage) => assert.fail(JSON.stringify(damage)) });
      assert.equal(await store.transcript.count("log"), 50);
      assert.equal(await store.sessions.count(), 200);
      await store.close();
      assert.equal((await verifyStore(copy)).ok, true);
    }
  },
);

test(
  "removing the index of the log beside a running gateway under load loses nothing",
  { timeout: 600_000 },
  async (t) => {
    const gateway = await startGateway();
    t.after(() => dispose(gateway));
    const wire = await operator(gateway);
    await wire.request("sessions.patch", { key: "agent:main:live", label: "live" });
    const file = join(gateway.state, "openclaw.sqlite");
    for (let n = 0; n < 60; n++) {
      if (n % 20 === 10) rmSync(`${file}-shm`, { force: true });
      const said = await wire.request("chat.inject", { sessionKey: "agent:main:live", message: `note ${n}` });
      assert.equal(said.ok, true, JSON.stringify(said));
      if (n % 20 === 15) assert.equal((await openclaw(gateway.home, ["sessions", "list", "--json"], cache)).code, 0);
    }
    wire.end();
    await gateway.stop();
    assert.equal((await verifyStore(file)).ok, true);
    const store = await openSqliteStore({ file });
    const record = await store.sessions.get("agent:main:live" as SessionKey);
    assert.equal(await store.transcript.count(record?.sessionId ?? ""), 60);
    await store.close();
  },
);

test(
  "openclaw doctor names a damaged index and on request rebuilds the store and keeps the old file",
  { timeout: 600_000 },
  async (t) => {
    const home = tempHome();
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const gateway = await startGateway({ home });
    const wire = await operator(gateway);
    for (let n = 0; n < 30; n++) await wire.request("sessions.patch", { key: `agent:main:d${n}`, label: `d${n}` });
    wire.end();
    await gateway.stop();
    const file = join(gateway.state, "openclaw.sqlite");
    overwrite(
      file,
      pagesOf(file).filter(({ name }) => name === "sessions_by_time"),
      false,
    );
    const seen = await openclaw(home, ["doctor"], cache);
    assert.notEqual(seen.code, 0);
    assert.match(seen.stdout, /integrity/);
    const fixed = await openclaw(home, ["doctor", "--fix"], cache);
    assert.match(fixed.stdout, /done: rebuild .*openclaw\.sqlite from its records and keep the old file/);
    assert.equal((await verifyStore(file)).ok, true);
    const store = await openSqliteStore({ file });
    assert.equal((await store.sessions.list({})).filter(({ key }) => key.includes(":d")).length, 30);
    await store.close();
  },
);
