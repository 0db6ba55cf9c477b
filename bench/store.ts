// The store against bare node:sqlite in the same run: commits, flushed and not, one by one and many at once; reopening.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { openSqliteStore } from "../src/store/sqlite.ts";
import type { JournalEntry, Store } from "../src/store/store.ts";
import { atLeast, atMost, median, round, type Row } from "./table.ts";

export async function benchStore(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "bench-store-"));
  try {
    return [...(await benchCommits(folder)), ...(await benchHistory(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchCommits(folder: string): Promise<Row[]> {
  const bare = { full: bareCommits(folder, "FULL", 1500), normal: bareCommits(folder, "NORMAL", 10_000) };
  const store = await openSqliteStore({ file: join(folder, "commits.sqlite") });
  const durableOne = await perSecond(1500, 1, (index) => append(store, index));
  const durableMany = await perSecond(12_000, 64, (index) => append(store, index));
  const looseOne = await perSecond(10_000, 1, (index) => store.journal.record(callOf(index), { durable: false }));
  const looseMany = await perSecond(30_000, 64, (index) =>
    store.journal.record(callOf(1_000_000 + index), { durable: false }),
  );
  await store.close();
  const against = (ours: number, theirs: number): string => `${round(ours)}/s, bare one by one ${round(theirs)}/s`;
  return [
    atLeast("durable appends, one at a time", durableOne / bare.full, 0.6, "x bare", against(durableOne, bare.full)),
    atLeast("durable appends, 64 at once", durableMany / bare.full, 3, "x bare", against(durableMany, bare.full)),
    atLeast(
      "journal rows not flushed, one at a time",
      looseOne / bare.normal,
      0.2,
      "x bare",
      against(looseOne, bare.normal),
    ),
    atLeast("journal rows not flushed, 64 at once", looseMany, 3000, "/s", against(looseMany, bare.normal)),
  ];
}

/** A table with one row per commit and no index: the least SQLite can do for that promise. */
function bareCommits(folder: string, synchronous: "FULL" | "NORMAL", count: number): number {
  const database = new DatabaseSync(join(folder, `bare-${synchronous}.sqlite`));
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; CREATE TABLE t (a TEXT, at INTEGER, body TEXT)`,
  );
  const insert = database.prepare("INSERT INTO t VALUES (?, ?, ?)");
  const started = performance.now();
  for (let index = 0; index < count; index++) insert.run(`row ${index}`, index, text);
  const rate = (count / (performance.now() - started)) * 1000;
  database.close();
  return rate;
}

async function perSecond(count: number, atOnce: number, write: (index: number) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await write(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return (count / (performance.now() - started)) * 1000;
}

/** A store of 1,000 sessions and 100,000 entries whose process was killed. */
async function benchHistory(folder: string): Promise<Row[]> {
  const file = join(folder, "history.sqlite");
  spawnSync(process.execPath, ["--input-type=module", "-e", historyScript(file)], { stdio: "inherit" });
  const bare: number[] = [];
  const ours: number[] = [];
  for (let turn = 0; turn < 7; turn++) {
    bare.push(await openBare(copyOf(file, `bare-${turn}`)));
    ours.push(await openOurs(copyOf(file, `ours-${turn}`)));
  }
  const [bareMs, oursMs] = [median(bare), median(ours)];
  const store = await openSqliteStore({ file });
  const tailMs = await medianMs(20, () => store.transcript.tail("s0", 1000));
  const listMs = await medianMs(20, () => store.sessions.list({ limit: 200 }));
  const parseMs = await medianMs(20, async () =>
    Array.from({ length: 1000 }, () => JSON.parse(JSON.stringify({ text })) as unknown),
  );
  await store.close();
  return [
    atMost(
      "reopen after kill -9, 1,000 sessions, 100,000 entries",
      oursMs,
      1000,
      " ms",
      `${round(oursMs / bareMs)}x a bare open, ${round(bareMs)} ms`,
    ),
    atMost("last 1,000 entries of a transcript", tailMs, 25, " ms", `${round(tailMs / parseMs)}x bare JSON`),
    atMost("newest 200 of 1,000 sessions", listMs, 25, " ms"),
  ];
}

function historyScript(file: string): string {
  return `
    import { openSqliteStore } from ${JSON.stringify(new URL("../src/store/sqlite.ts", import.meta.url).href)};
    const store = await openSqliteStore({ file: ${JSON.stringify(file)} });
    const body = { text: ${JSON.stringify(text)} };
    for (let session = 0; session < 1000; session++) {
      const key = "agent:main:k" + session;
      void store.sessions.put({ key, agentId: "main", sessionId: "s" + session, createdAt: 1, updatedAt: session, entry: {} });
      const count = session === 0 ? 1000 : 99;
      await store.transcript.append("s" + session, Array.from({ length: count }, (_, index) => ({ id: "e" + index, type: "message", at: index, body })));
    }
    process.kill(process.pid, "SIGKILL");`;
}

/** Until the first answer; closing folds the log in and is not part of it. */
async function openBare(file: string): Promise<number> {
  const started = performance.now();
  const database = new DatabaseSync(file);
  database.prepare("SELECT max(n) FROM transcript").get();
  const tookMs = performance.now() - started;
  database.close();
  return tookMs;
}

async function openOurs(file: string): Promise<number> {
  const started = performance.now();
  const store = await openSqliteStore({ file });
  await store.transcript.count("s0");
  const tookMs = performance.now() - started;
  await store.close();
  return tookMs;
}

function copyOf(file: string, name: string): string {
  for (const end of ["", "-wal"]) copyFileSync(file + end, `${file}.${name}${end}`);
  return `${file}.${name}`;
}

async function medianMs(turns: number, work: (turn: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const started = performance.now();
    await work(turn);
    times.push(performance.now() - started);
  }
  return median(times);
}

function append(store: Store, index: number): Promise<number> {
  return store.transcript.append(`s${index % 20}`, [{ id: `e${index}`, type: "message", at: index, body: { text } }]);
}

function callOf(index: number): JournalEntry {
  const who = { agentId: "main", sessionKey: "agent:main:main", caller: "http" };
  return {
    id: `call-${index}`,
    at: index,
    tool: "sessions_list",
    ...who,
    outcome: "ok",
    durationMs: 1,
    args: { limit: 20 },
  };
}

const text = "the words of one message, about as long as people write them. ".repeat(3);
