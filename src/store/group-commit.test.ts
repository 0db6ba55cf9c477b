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

describe("group commit", () => {
  test("writes of one turn share one transaction, those of the next turn have their own", async () => {
    const { commits, log, keep } = ground();
    await Promise.all([keep("a"), keep("b"), keep("c")]);
    await turn();
    await keep("d");
    assert.deepEqual(transactions(log), ["FULL 3", "FULL 1"]);
    commits.end();
  });

  test("a transaction is flushed when any of its writes is durable, and the setting is changed only when it differs", async () => {
    const { log, keep } = ground();
    await Promise.all([keep("a", loose), keep("b", loose)]);
    await Promise.all([keep("c", loose), keep("d", durable)]);
    await keep("e", durable);
    await keep("f", loose);
    await keep("g", loose);
    assert.deepEqual(transactions(log), ["NORMAL 2", "FULL 2", "FULL 1", "NORMAL 1", "NORMAL 1"]);
    assert.equal(log.filter((line) => line.startsWith("PRAGMA")).length, 3);
  });

  test("a very long turn is cut into transactions of bounded size", async () => {
    const { log, keep } = ground();
    await Promise.all(Array.from({ length: 600 }, (_, index) => keep(`k${index}`)));
    assert.deepEqual(transactions(log), ["FULL 256", "FULL 256", "FULL 88"]);
  });

  test("the writes of one unit are never cut apart, however many wait before them", async () => {
    const { commits, log, keep } = ground();
    const asked = Array.from({ length: 254 }, (_, index) => keep(`k${index}`));
    asked.push(...commits.together(() => [keep("run"), keep("message"), keep("session")]));
    await Promise.all(asked);
    assert.deepEqual(transactions(log), ["FULL 254", "FULL 1"], "254 units, then one of three writes");
  });

  test("a unit that fails takes back all of its writes and nothing of its neighbors", async () => {
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

  test("a unit is what was asked for synchronously: later writes are on their own", async () => {
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

  test("flush commits at once, before the callers hear of it", async () => {
    const { commits, keep, read } = ground();
    const asked = keep("a");
    commits.flush();
    assert.deepEqual(read(), ["a"]);
    await asked;
  });

  test("end flushes what waits and refuses the rest", async () => {
    const { commits, keep, read } = ground();
    const asked = keep("a");
    commits.end();
    await asked;
    await assert.rejects(keep("b"), { code: "store.closed" });
    assert.deepEqual(read(), ["a"]);
  });

  test("a write that fails halfway leaves nothing of itself and rejects alone", async () => {
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
  test("a full disk at the commit: each write is tried alone, and those that fit are kept", async () => {
    const { keep, read, log } = ground({ failOnce: { at: "COMMIT", errcode: 13 } });
    assert.deepEqual(await outcomesOf([keep("a"), keep("b"), keep("c")]), ["kept", "kept", "kept"]);
    assert.deepEqual(transactions(log), ["FULL 1", "FULL 1", "FULL 1"]);
    assert.deepEqual(read(), ["a", "b", "c"]);
  });

  test("a full disk throughout: every caller hears of it, nothing half is left, and it works again with space", async () => {
    const faults = { at: "COMMIT", errcode: 13, isOn: true };
    const { keep, read } = ground({ faults });
    assert.deepEqual(await outcomesOf([keep("a"), keep("b")]), ["store.full", "store.full"]);
    faults.isOn = false;
    assert.deepEqual(await outcomesOf([keep("a"), keep("b")]), ["kept", "kept"]);
    assert.deepEqual(read(), ["a", "b"]);
  });

  test("no transaction can be begun: all are refused with the reason, without a second try", async () => {
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

  test("after a failed flush nothing is acknowledged any more, though reads go on", async () => {
    const faults = { at: "COMMIT", errcode: 1034, isOn: false };
    const { commits, keep, read } = ground({ faults });
    await keep("before");
    faults.isOn = true;
    const waiting = Array.from({ length: 300 }, (_, index) => keep(`k${index}`));
    assert.deepEqual(new Set(await outcomesOf(waiting)), new Set(["store.io"]));
    faults.isOn = false;
    assert.deepEqual(await outcomesOf([keep("late"), keep("later", loose)]), ["store.io", "store.io"]);
    assert.throws(() => commits.flush(), { code: "store.io" });
    assert.deepEqual(read(), ["before"]);
  });

  test("reports a failed write and continues when the flush did not fail", async () => {
    const { keep, read } = ground({ failOnce: { at: "COMMIT", errcode: 778 } });
    assert.deepEqual(await outcomesOf([keep("a")]), ["store.io"]);
    assert.deepEqual(await outcomesOf([keep("a")]), ["kept"]);
    assert.deepEqual(read(), ["a"]);
  });

  test("a transaction that cannot even be taken back ends the acknowledging", async () => {
    const faults = { at: "COMMIT", errcode: 13, isOn: true, also: "ROLLBACK" };
    const { keep } = ground({ faults });
    assert.deepEqual(await outcomesOf([keep("a"), keep("b")]), ["store.full", "store.full"]);
    faults.isOn = false;
    assert.deepEqual(await outcomesOf([keep("c")]), ["store.full"]);
  });
});

test("on a disk that fills up and is freed at random, each unit is stored whole or not at all", async () => {
  const unit = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 5 });
  const step = fc.record({
    units: fc.array(unit, { minLength: 1, maxLength: 12 }),
    /** Pages the store may grow by from here on; many: the disk was freed. */
    room: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.constant(10_000)),
    isAwaited: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const connection = openPlain(newStoreFile());
      connection.exec("PRAGMA journal_mode = WAL; CREATE TABLE kept (unit INTEGER, part INTEGER, filler TEXT)");
      const commits = createGroupCommit(connection);
      const asked: Promise<string>[] = [];
      const sizes: number[] = [];
      for (const { units, room, isAwaited } of steps) {
        // A real limit of SQLite: what would go beyond it fails as on a full disk.
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

test("only a failed flush is a loss of trust", () => {
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
  const stranger = new TypeError("ours");
  assert.equal(toStoreError("f", stranger), stranger);
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

/** A real connection whose control words are logged and, when told to, fail as SQLite does. */
function ground(options: { faults?: Faults; failOnce?: { at: string; errcode: number } } = {}): TestGround {
  const real = openPlain(newStoreFile());
  real.exec("PRAGMA journal_mode = WAL; CREATE TABLE kept (name TEXT PRIMARY KEY)");
  const faults: Faults = options.faults ?? { at: "", errcode: 0, isOn: false, ...options.failOnce };
  if (options.failOnce !== undefined) faults.isOn = true;
  const log: string[] = [];
  const meet = (word: string): void => {
    log.push(word);
    if (!faults.isOn || (word !== faults.at && word !== faults.also)) return;
    if (options.failOnce !== undefined) faults.isOn = false;
    throw toStoreError(real.file, Object.assign(new Error("as if by the disk"), { errcode: faults.errcode }));
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
  const commits = createGroupCommit(connection);
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

/** "FULL 3" for a committed transaction of three writes that was flushed. */
function transactions(log: readonly string[]): string[] {
  const found: string[] = [];
  let mode = "";
  let writes = 0;
  for (const line of log) {
    if (line.startsWith("PRAGMA synchronous")) mode = line.split(" ").at(-1) ?? "";
    if (line === "BEGIN IMMEDIATE") writes = 0;
    if (line === "SAVEPOINT one") writes++;
    if (line === "ROLLBACK") found.pop();
    if (line === "COMMIT") found.push(`${mode} ${Math.max(1, writes)}`);
  }
  return found;
}

async function outcomesOf(asked: readonly Promise<unknown>[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(asked);
  return outcomes.map((outcome) => (outcome.status === "fulfilled" ? "kept" : (outcome.reason as OpenClawError).code));
}
