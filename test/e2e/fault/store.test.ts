// Processes that write to a store: killed (F1), and two at once.
// The full rounds, 5,000 kills: OPENCLAW_FAULT_ROUNDS=5000 node --test test/e2e/fault/store.test.ts
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, test } from "node:test";

import { openSqliteStore } from "../../../src/store/sqlite.ts";
import type { StoredEntry } from "../../../src/store/store.ts";
import { assertSound, newFile, rounds, startWriter } from "../../harness/store.ts";

const sessionNames = Array.from({ length: 20 }, (_, index) => `s${index}`);

describe("a process that is killed", () => {
  test(`loses no acknowledged write over ${rounds} kills`, async (t) => {
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
    await assertSound(file);
    const total = [...acknowledged.values()].reduce((sum, last) => sum + last, 0);
    t.diagnostic(`${rounds} kills, ${total} acknowledged entries in ${acknowledged.size} sessions, 0 lost`);
    t.diagnostic(`reopening: median ${median(openMs).toFixed(1)} ms, worst ${Math.max(...openMs).toFixed(1)} ms`);
  });
});

describe("two processes on one store", () => {
  test("write concurrently with readers and checks in between, without loss or damage", async (t) => {
    const file = newFile();
    await (await openSqliteStore({ file })).close();
    const writers = [startWriter(file, "5", "a"), startWriter(file, "5", "b")];
    await Promise.all(writers.map((writer) => writer.ready));
    for (let turn = 0; turn < 10; turn++) {
      const reader = await openSqliteStore({ file, readOnly: true });
      await reader.transcript.tail("a0", 20);
      await reader.close();
      await assertSound(file);
    }
    const lines = (await Promise.all(writers.map((writer) => writer.kill()))).flat();
    const store = await openSqliteStore({ file });
    for (const { session, last } of lines) assert.ok((await store.transcript.count(session)) >= last);
    await store.close();
    await assertSound(file);
    t.diagnostic(`${lines.length} appends acknowledged by two processes, 0 lost`);
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
  await assertSound(file);
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
