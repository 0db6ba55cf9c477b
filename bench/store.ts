// The store against bare node:sqlite in the same run: commits, flushed and not, one by one and many at once; reopening.
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
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

/** Bare and ours take turns, so that whatever else the machine does meets both. */
async function benchCommits(folder: string): Promise<Row[]> {
  const bare = { full: openBareTable(folder, "FULL"), normal: openBareTable(folder, "NORMAL") };
  const store = await openSqliteStore({ file: join(folder, "commits.sqlite") });
  const look = (index: number): Promise<void> => store.journal.record(callOf(index), { durable: false });
  const rates = { bareFull: [], bareNormal: [], fullOne: [], fullMany: [], looseOne: [], looseMany: [] } as Record<
    string,
    number[]
  >;
  for (let turn = 0; turn < 7; turn++) {
    rates["bareFull"]?.push(await perSecond(200, 1, bare.full));
    rates["fullOne"]?.push(await perSecond(200, 1, (index) => append(store, index)));
    rates["fullMany"]?.push(await perSecond(3000, 64, (index) => append(store, index)));
    rates["bareNormal"]?.push(await perSecond(2000, 1, bare.normal));
    rates["looseOne"]?.push(await perSecond(2000, 1, look));
    rates["looseMany"]?.push(await perSecond(6000, 64, look));
  }
  await store.close();
  const [full, normal] = [rateOf(rates, "bareFull"), rateOf(rates, "bareNormal")];
  const row = (what: string, name: string, reference: number, bar: number): Row =>
    atLeast(
      what,
      rateOf(rates, name) / reference,
      bar,
      "x bare",
      `${round(rateOf(rates, name))}/s, bare one by one ${round(reference)}/s`,
    );
  return [
    row("durable appends, one at a time", "fullOne", full, 0.6),
    row("durable appends, 64 at once", "fullMany", full, 3),
    row("journal rows not flushed, one at a time", "looseOne", normal, 0.15),
    atLeast("journal rows not flushed, 64 at once", rateOf(rates, "looseMany"), 3000, "/s"),
  ];
}

function rateOf(rates: Readonly<Record<string, number[]>>, name: string): number {
  return median(rates[name] ?? []);
}

/** A table with one row per commit and no index: the least SQLite can do for that promise. */
function openBareTable(folder: string, synchronous: "FULL" | "NORMAL"): (index: number) => Promise<unknown> {
  const database = new DatabaseSync(join(folder, `bare-${synchronous}.sqlite`));
  database.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; CREATE TABLE t (a TEXT, at INTEGER, body TEXT)`,
  );
  const insert = database.prepare("INSERT INTO t VALUES (?, ?, ?)");
  return async (index) => insert.run(`row ${index}`, index, text);
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

/** Random ids, as calls have them. */
function callOf(index: number): JournalEntry {
  const who = { agentId: "main", sessionKey: "agent:main:main", caller: "http" };
  return {
    id: randomUUID(),
    at: index,
    tool: "sessions_list",
    ...who,
    outcome: "ok",
    durationMs: 1,
    args: { limit: 20 },
  };
}

const text = "the words of one message, about as long as people write them. ".repeat(3);
