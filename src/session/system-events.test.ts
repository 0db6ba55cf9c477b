import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import type { SessionKey } from "../core/names.ts";
import { openStore } from "../store/builtin.ts";
import { createSystemEvents } from "./system-events.ts";

const folder = mkdtempSync(join(tmpdir(), "system-events-"));
const file = join(folder, "store.sqlite");
const store = await openStore({ file });
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});
const main = "agent:main:main" as SessionKey;
const other = "agent:main:other" as SessionKey;
const texts = async (events: ReturnType<typeof createSystemEvents>, key = main): Promise<string[]> =>
  (await events.peek(key)).map(({ text }) => text);

test("keeps events in order per session, and merges the same text twice in a row", async () => {
  const events = createSystemEvents(store.kv, () => 7);
  await Promise.all([
    events.add(main, "one"),
    events.add(main, "one"),
    events.add(main, "two"),
    events.add(other, "x"),
  ]);
  assert.deepEqual([await texts(events), await texts(events, other)], [["one", "two"], ["x"]]);
});

test("keeps events for the next process, and removes only those that were read", async () => {
  const events = createSystemEvents(store.kv, () => 8);
  const waiting = await events.peek(main);
  await events.add(main, "three");
  await events.markRead(main, waiting);
  assert.deepEqual(await texts(createSystemEvents(store.kv, () => 9)), ["three"]);
});

test("keeps twenty events, drops the oldest, and counts the dropped ones", async () => {
  const events = createSystemEvents(store.kv, () => 9);
  for (let at = 0; at < 30; at++) await events.add(other, `line ${at}`);
  const left = await texts(events, other);
  assert.deepEqual(
    [left.length, left[0], left[1], left.at(-1)],
    [20, "12 earlier system events did not fit and were dropped", "line 11", "line 29"],
  );
});

test("finds an event that asks for a turn in the next process, and keeps a repeated one once", async () => {
  const events = createSystemEvents(store.kv, () => 10);
  await events.markRead(main, await events.peek(main));
  await events.add(main, "wake up");
  assert.ok(!(await events.sessionsToWake()).includes(main));
  await events.add(main, "wake up", true);
  const next = createSystemEvents(store.kv, () => 11);
  assert.deepEqual([await next.sessionsToWake(), await texts(next)], [[main], ["wake up"]]);
});

test("resolves with the run that read an event, and with undefined for a dropped one", async () => {
  const events = createSystemEvents(store.kv, () => 12);
  const third = "agent:main:third" as SessionKey;
  const { signal } = new AbortController();
  const event = await events.add(third, "first");
  const reader = events.reader(event, signal);
  await events.markRead(third, [event], "run-1");
  assert.equal(await reader, "run-1");
  const early = await events.add(third, "early");
  const lost = events.reader(early, signal);
  for (let at = 0; at < 20; at++) await events.add(third, `more ${at}`);
  assert.equal(await lost, undefined);
  const stop = new AbortController();
  const given = events.reader(await events.add(third, "again"), stop.signal);
  stop.abort();
  assert.equal(await given, undefined);
});
