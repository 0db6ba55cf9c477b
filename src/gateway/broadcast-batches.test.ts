// Events for many clients: each gets all of them in order, in few writes, without blocking the loop.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeClient, fakeTime } from "../../test/harness/frames.ts";
import { createBroadcastBatches } from "./broadcast-batches.ts";
import { textFrame } from "./frame-bytes.ts";

const clients = (count: number) => Array.from({ length: count }, () => fakeClient());

test("writes to a few clients immediately", () => {
  const time = fakeTime();
  const batches = createBroadcastBatches(time, time);
  const few = clients(3);
  batches.send(few, textFrame("1"));
  assert.deepEqual(
    few.map(({ received }) => received),
    [[1], [1], [1]],
  );
  assert.equal(batches.isBehind(), false);
});

test("gathers events for many clients into one write each, in order", () => {
  const time = fakeTime();
  const batches = createBroadcastBatches(time, time);
  const many = clients(200);
  for (let i = 1; i <= 40; i++) batches.send(many, textFrame(String(i)));
  assert.equal(batches.isBehind(), true);
  time.advance(1);
  const wanted = Array.from({ length: 40 }, (_, i) => i + 1);
  for (const { received, writes } of many) assert.deepEqual([received, writes], [wanted, 1]);
});

test("sends a response after the events that were sent before it", () => {
  const time = fakeTime();
  const batches = createBroadcastBatches(time, time);
  const many = clients(200);
  batches.send(many, textFrame("1"));
  many[0]?.send(textFrame("2"));
  batches.send(many, textFrame("3"));
  time.advance(1);
  assert.deepEqual(
    [many[0]?.received, many[1]?.received],
    [
      [1, 2, 3],
      [1, 3],
    ],
  );
});

test("lets other work run between slices and pauses after a pass", () => {
  const time = fakeTime();
  let busy = 0;
  const clock = { now: () => time.now(), ticks: () => time.ticks() + busy };
  const slices: number[] = [];
  let inSlice = 0;
  const timers = {
    soon: (work: () => void) =>
      time.soon(() => {
        inSlice = 0;
        work();
        slices.push(inSlice);
      }),
    after: (ms: number, work: () => void) => void time.after(ms, work),
  };
  const sliced = createBroadcastBatches(clock, timers);
  const many = Array.from({ length: 100 }, () =>
    fakeClient({
      flush() {
        busy += 1;
        inSlice += 1;
      },
    }),
  );
  sliced.send(many, textFrame("1"));
  time.advance(0);
  assert.equal(
    slices.reduce((sum, count) => sum + count, 0),
    100,
  );
  assert.ok(Math.max(...slices) <= 3, `clients written to in one slice: ${slices.join()}`);
  sliced.send(many, textFrame("2"));
  time.advance(700);
  assert.equal(
    slices.reduce((sum, count) => sum + count, 0),
    100,
    "still pausing",
  );
  time.advance(200);
  assert.ok(busy > 100, "written after the pause");
});
