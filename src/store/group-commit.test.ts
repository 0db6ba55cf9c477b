// Group commit on a real connection: how writes share transactions, and what a failing disk does to them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";

import type { OpenClawError } from "../core/error.ts";
import { newStoreFile } from "./cases/files.cases.ts";
import { openPlain, type Connection } from "./connection.ts";
import { isLossOfTrust, toStoreError } from "./failure.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";
import { act, firstRow, rows } from "./sql.ts";

const durable = { durable: true };
const loose = { durable: false };
const joins = { durable: false, joinsNext: true };

describe("group commit", () => {
  test("writes of one tick share one transaction, those of the next tick have their own", async () => {
    const { commits, log, keep } = ground();
    await Promise.all([keep("a"), keep("b"), keep("c")]);
    await turn();
    await keep("d");
    assert.deepEqual(transactions(log), ["flushed 3", "flushed 1"]);
    await commits.end();
  });

  test("flushes a transaction when one of its writes is durable", async () => {
    const { log, keep } = ground();
    await Promise.all([keep("a", loose), keep("b", loose)]);
    await Promise.all([keep("c", loose), keep("d", durable)]);
    await keep("e", durable);
    await keep("f", loose);
    await keep("g", loose);
    assert.deepEqual(transactions(log), ["loose 2", "flushed 2", "flushed 1", "loose 1", "loose 1"]);
  });

  test("a durable write is acknowledged after the flush, and later writes share the next transaction", async () => {
    const flushes: (() => void)[] = [];
    const { commits, log, keep, read } = ground({ flushLog: () => new Promise((resolve) => flushes.push(resolve)) });
    const acknowledged: string[] = [];
    const ask = (name: string, options?: { durable: boolean }): Promise<unknown> =>
      keep(name, options).then(() => acknowledged.push(name));
    const first = ask("a");
    await turn();
    const later = [ask("b", loose), ask("c")];
    await turn();
    await turn();
    assert.deepEqual({ acknowledged, stored: read() }, { acknowledged: [], stored: ["a"] });
    assert.ok(commits.flushing() !== undefined);
    flushes.shift()?.();
    await first;
    assert.equal(commits.flushing(), undefined);
    await turn();
    assert.deepEqual({ acknowledged, stored: read() }, { acknowledged: ["a"], stored: ["a", "b", "c"] });
    flushes.shift()?.();
    await Promise.all(later);
    assert.deepEqual(transactions(log), ["flushed 1", "flushed 2"]);
  });

  test("a write that joins the next one shares its commit and stays before it", async () => {
    const { commits, log, keep, read } = ground();
    const asked = [keep("a", joins), keep("b", joins)];
    await turn();
    await turn();
    assert.deepEqual(read(), [], "waits for a write that does not wait");
    asked.push(keep("c"));
    await Promise.all(asked);
    assert.deepEqual({ stored: read(), log: transactions(log) }, { stored: ["a", "b", "c"], log: ["flushed 3"] });
    await commits.end();
  });

  test("a write that joins the next one is committed without one, and by flush and by end", async () => {
    const { commits, log, keep, read } = ground();
    await keep("alone", joins);
    const flushed = keep("flushed", joins);
    await commits.flush();
    await flushed;
    const ended = keep("ended", joins);
    await commits.end();
    await ended;
    assert.deepEqual(
      { stored: read(), log: transactions(log) },
      { stored: ["alone", "flushed", "ended"], log: ["loose 1", "loose 1", "loose 1"] },
    );
  });

  test("splits a very long tick into transactions of bounded size", async () => {
    const { log, keep } = ground();
    await Promise.all(Array.from({ length: 600 }, (_, index) => keep(`k${index}`)));
    assert.deepEqual(transactions(log), ["flushed 256", "flushed 256", "flushed 88"]);
  });

  test("never splits the writes of one unit, however many wait before them", async () => {
    const { commits, log, keep } = ground();
    const asked = Array.from({ length: 254 }, (_, index) => keep(`k${index}`));
    asked.push(...commits.together(() => [keep("run"), keep("message"), keep("session")]));
    await Promise.all(asked);
    assert.deepEqual(transactions(log), ["flushed 254", "flushed 1"], "254 units, then one of three writes");
  });

  test("rolls back all writes of a failed unit and none of its neighbors", async () => {
    const { commits, keep, read } = ground();
    const asked = [
      keep("a"),
      ...commits.together(() => [keep("b"), keep("a"), keep("c")]),
      ...commits.together(() => [keep("d"), ...commits.together(() => [keep("e")])]),
    ];
    const outcomes = (await Promise.allSettled(asked)).map(({ status }) => status);
    assert.deepEqual(outcomes, ["fulfilled", "rejected", "rejected", "rejected", "fulfilled", "fulfilled"]);
    assert.deepEqual(read(), ["a", "d", "e"]);
  });

  test("a unit contains the writes of the synchronous callback; later writes are separate", async () => {
    const { commits, keep, read } = ground();
    await commits.together(async () => {
      const first = keep("a");
      await first;
      await assert.rejects(keep("a"), /UNIQUE/);
    });
    assert.throws(() =>
      commits.together(() => {
        throw new Error("not asked");
      }),
    );
    await keep("b");
    assert.deepEqual(read(), ["a", "b"]);
  });

  test("flush commits all earlier writes while new ones arrive", async () => {
    const { commits, keep, read } = ground();
    const asked = [...Array(300).keys()].map((index) => keep(`k${index}`));
    const flushed = commits.flush();
    const others: Promise<unknown>[] = [];
    const asking = setInterval(() => others.push(keep(`other${others.length}`)), 0);
    await flushed;
    clearInterval(asking);
    assert.equal(read().filter((name) => name.startsWith("k")).length, 300);
    await Promise.all([...asked, ...others]);
  });

  test("end flushes pending writes and rejects later ones", async () => {
    const { commits, keep, read } = ground();
    const asked = [keep("a")];
    await turn();
    asked.push(keep("a2"));
    const ended = commits.end();
    await assert.rejects(keep("late"), { code: "store.closed" });
    await ended;
    await Promise.all(asked);
    await assert.rejects(keep("b"), { code: "store.closed" });
    assert.deepEqual(read(), ["a", "a2"]);
  });

  test("a write that fails halfway is rolled back and rejects alone", async () => {
    const { commits, keep, read } = ground();
    const outcomes = await Promise.allSettled([
      keep("a"),
      commits.write(function* () {
        yield* act("INSERT INTO kept VALUES ('half')");
        throw new Error("second thoughts");
      }, durable),
      keep("a"),
      keep("b"),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === "fulfilled" ? "kept" : String(outcome.reason).split("\n")[0])),
      ["kept", "Error: second thoughts", "Error: UNIQUE constraint failed: kept.name", "kept"],
    );
    assert.deepEqual(read(), ["a", "b"]);
  });
});

describe("group commit on a failing disk", () => {
  test("on a full disk at commit, tries each write alone and keeps those that fit", async () => {
    const { keep, read, log } = ground({ failOnce: { at: "COMMIT", errcode: 13 } });
    assert.deepEqual(await outcomesOf([keep("a"), keep("b"), keep("c")]), ["kept", "kept", "kept"]);
    // One flush for all three.
    assert.deepEqual(transactions(log), ["loose 1", "loose 1", "flushed 1"]);
    assert.deepEqual(read(), ["a", "b", "c"]);
  });

  test("on a full disk throughout, rejects every caller, leaves no partial write, and works again with space", async () => {
    const faults = { at: "COMMIT", errcode: 13, isOn: true };
    const { keep, read } = ground({ faults });
    assert.deepEqual(await outcomesOf([keep("a"), keep("b")]), ["store.full", "store.full"]);
    faults.isOn = false;
    assert.deepEqual(await outcomesOf([keep("a"), keep("b")]), ["kept", "kept"]);
    assert.deepEqual(read(), ["a", "b"]);
  });

  test("when no transaction can begin, rejects all writes with the reason, without a second try", async () => {
    for (const [errcode, code] of [
      [5, "store.busy"],
      [8, "store.read-only"],
      [14, "store.io"],
    ] as const) {
      const { keep, log } = ground({ faults: { at: "BEGIN IMMEDIATE", errcode, isOn: true } });
      assert.deepEqual(await outcomesOf([keep("a"), keep("b")]), [code, code]);
      assert.equal(log.filter((line) => line === "BEGIN IMMEDIATE").length, 1);
    }
  });

  test("acknowledges no write after a failed flush, while reads still work", async () => {
    const faults = { at: "COMMIT", errcode: 1034, isOn: false };
    const { commits, keep, read } = ground({ faults });
    await keep("before");
    faults.isOn = true;
    const waiting = Array.from({ length: 300 }, (_, index) => keep(`k${index}`));
    assert.deepEqual(new Set(await outcomesOf(waiting)), new Set(["store.io"]));
    faults.isOn = false;
    assert.deepEqual(await outcomesOf([keep("late"), keep("later", loose)]), ["store.io", "store.io"]);
    await assert.rejects(commits.flush(), { code: "store.io" });
    assert.deepEqual(read(), ["before"]);
  });

  test("the same when the flush outside of the transaction fails", async () => {
    let isBroken = false;
    const { commits, keep } = ground({
      flushLog: async () => {
        if (isBroken) throw Object.assign(new Error("as if by the disk"), { code: "EIO" });
      },
    });
    await keep("before");
    isBroken = true;
    const waiting = outcomesOf([keep("a"), keep("b", loose)]);
    await turn();
    assert.deepEqual(await outcomesOf([keep("c")]), ["store.io"]);
    assert.deepEqual(await waiting, ["store.io", "store.io"]);
    isBroken = false;
    assert.deepEqual(await outcomesOf([keep("late"), keep("later", loose)]), ["store.io", "store.io"]);
    await assert.rejects(commits.flush(), { code: "store.io" });
  });

  test("what was committed alone on a full disk is not acknowledged when a later flush fails", async () => {
    const { keep } = ground({ commitCodes: [13, 0, 1034] });
    assert.deepEqual(await outcomesOf([keep("a"), keep("b"), keep("c")]), ["store.io", "store.io", "store.io"]);
  });

  test("reports a failed write and continues when the flush did not fail", async () => {
    const { keep, read } = ground({ failOnce: { at: "COMMIT", errcode: 778 } });
    assert.deepEqual(await outcomesOf([keep("a")]), ["store.io"]);
    assert.deepEqual(await outcomesOf([keep("a")]), ["kept"]);
    assert.deepEqual(read(), ["a"]);
  });

  test("acknowledges no write after a rollback that fails", async () => {
    const faults = { at: "COMMIT", errcode: 13, isOn: true, also: "ROLLBACK" };
    const { keep } = ground({ faults });
    assert.deepEqual(await outcomesOf([keep("a"), keep("b")]), ["store.full", "store.full"]);
    faults.isOn = false;
    assert.deepEqual(await outcomesOf([keep("c")]), ["store.full"]);
  });
});

test("on a disk that fills up and is freed at random, stores each unit completely or not at all", async () => {
  const unit = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 5 });
  const step = fc.record({
    units: fc.array(unit, { minLength: 1, maxLength: 12 }),
    /** Pages the store may still grow by; a large number means that the disk was freed. */
    room: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant(10_000)),
    isAwaited: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const connection = openPlain(newStoreFile());
      connection.exec("PRAGMA journal_mode = WAL; CREATE TABLE kept (unit INTEGER, part INTEGER, filler TEXT)");
      const commits = createGroupCommit(connection, async () => {});
      const asked: Promise<string>[] = [];
      const sizes: number[] = [];
      for (const { units, room, isAwaited } of steps) {
        // A real limit of SQLite: writes beyond it fail as on a full disk.
        connection.exec(`PRAGMA max_page_count = ${Number(connection.value("PRAGMA page_count")) + room}`);
        for (const parts of units) {
          const number = sizes.push(parts.length) - 1;
          const writes = commits.together(() =>
            parts.map((size, part) =>
              commits.write(() => act("INSERT INTO kept VALUES (?, ?, ?)", [number, part, "x".repeat(size)]), durable),
            ),
          );
          asked.push(outcomesOf(writes).then((outcomes) => [...new Set(outcomes)].join()));
        }
        if (isAwaited) await Promise.all(asked);
      }
      const outcomes = await Promise.all(asked);
      assert.ok(outcomes.every((outcome) => outcome === "kept" || outcome === "store.full"));
      const found = connection.run(rows("SELECT unit, count(*) AS parts FROM kept GROUP BY unit ORDER BY unit"));
      const expected = sizes.flatMap((parts, number) => (outcomes[number] === "kept" ? [{ unit: number, parts }] : []));
      assert.deepEqual(
        found.map((row) => ({ ...row })),
        expected,
      );
      connection.close();
    }),
    { numRuns: Number(process.env["OPENCLAW_PROPERTY_RUNS"] ?? 60) },
  );
});

test("only a failed flush stops later writes", () => {
  const errorOf = (errcode: number): unknown => toStoreError("f", Object.assign(new Error("x"), { errcode }));
  assert.deepEqual(
    [1034, 1290, 778, 266, 13, 4874, 11, 5].map((code) => isLossOfTrust(errorOf(code))),
    [true, true, false, false, false, false, false, false],
  );
  assert.deepEqual(
    [1034, 13, 4874, 8, 1032, 11, 26, 5, 261].map((code) => (errorOf(code) as OpenClawError).code),
    ["io", "full", "full", "read-only", "read-only", "damaged", "damaged", "busy", "busy"].map(
      (reason) => `store.${reason}`,
    ),
  );
  assert.deepEqual(
    ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO"].map(
      (code) => (toStoreError("f", Object.assign(new Error("x"), { code })) as OpenClawError).code,
    ),
    ["full", "full", "read-only", "read-only", "io"].map((reason) => `store.${reason}`),
  );
  const foreign = new TypeError("ours");
  assert.equal(toStoreError("f", foreign), foreign);
});

interface Faults {
  readonly at: string;
  readonly errcode: number;
  readonly also?: string;
  isOn: boolean;
}

interface TestGround {
  readonly commits: GroupCommit;
  readonly log: string[];
  readonly keep: (name: string, options?: { durable: boolean }) => Promise<unknown>;
  readonly read: () => string[];
}

interface GroundOptions {
  readonly faults?: Faults;
  readonly failOnce?: { readonly at: string; readonly errcode: number };
  /** Of each commit in turn; 0 succeeds. */
  readonly commitCodes?: readonly number[];
  readonly flushLog?: () => Promise<void>;
}

/** A real connection whose control words are logged and, when told to, fail as SQLite does. */
function ground(options: GroundOptions = {}): TestGround {
  const real = openPlain(newStoreFile());
  real.exec("PRAGMA journal_mode = WAL; CREATE TABLE kept (name TEXT PRIMARY KEY)");
  const faults: Faults = options.faults ?? { at: "", errcode: 0, isOn: false, ...options.failOnce };
  if (options.failOnce !== undefined) faults.isOn = true;
  const commitCodes = [...(options.commitCodes ?? [])];
  const log: string[] = [];
  const fail = (errcode: number): never => {
    throw toStoreError(real.file, Object.assign(new Error("as if by the disk"), { errcode }));
  };
  const meet = (word: string): void => {
    log.push(word);
    const code = word === "COMMIT" ? (commitCodes.shift() ?? 0) : 0;
    if (code !== 0) fail(code);
    if (!faults.isOn || (word !== faults.at && word !== faults.also)) return;
    if (options.failOnce !== undefined) faults.isOn = false;
    fail(faults.errcode);
  };
  const connection: Connection = {
    ...real,
    control(sql) {
      meet(sql);
      real.control(sql);
    },
    exec(sql) {
      meet(sql);
      real.exec(sql);
    },
  };
  const { flushLog = async () => {} } = options;
  const commits = createGroupCommit(connection, () => {
    log.push("flush");
    return flushLog();
  });
  return {
    commits,
    log,
    keep: (name, how = durable) => commits.write(() => act("INSERT INTO kept VALUES (?)", [name]), how),
    read: () => namesIn(real),
  };
}

function namesIn(connection: Connection): string[] {
  const found = connection.run(
    firstRow("SELECT json_group_array(name) AS names FROM (SELECT name FROM kept ORDER BY rowid)"),
  );
  return JSON.parse(String(found?.["names"])) as string[];
}

/** "flushed 3" for a committed transaction of three writes with a flush behind it. */
function transactions(log: readonly string[]): string[] {
  const found: string[] = [];
  let writes = 0;
  for (const line of log) {
    if (line === "BEGIN IMMEDIATE") writes = 0;
    if (line === "SAVEPOINT one") writes++;
    if (line === "ROLLBACK") found.pop();
    if (line === "COMMIT") found.push(`loose ${Math.max(1, writes)}`);
    if (line === "flush") found.push((found.pop() ?? "").replace("loose", "flushed"));
  }
  return found;
}

async function outcomesOf(asked: readonly Promise<unknown>[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(asked);
  return outcomes.map((outcome) => (outcome.status === "fulfilled" ? "kept" : (outcome.reason as OpenClawError).code));
}
