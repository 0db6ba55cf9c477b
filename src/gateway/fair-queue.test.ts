// Requests take turns: a client with many requests waits, the others do not wait for it.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { fakeTime } from "../../test/harness/frames.ts";
import { createFairQueue } from "./fair-queue.ts";

test("runs the request of a quiet client immediately", () => {
  const time = fakeTime();
  const lane = createFairQueue(time, (work) => time.soon(work)).lane();
  let ran = false;
  lane.offer(() => (ran = true));
  assert.equal(ran, true);
});

test("lets a light client wait for one request of a heavy one, not for all of them", () => {
  const time = fakeTime();
  let busy = 0;
  const queue = createFairQueue({ now: () => time.now(), ticks: () => time.ticks() + busy }, (work) => time.soon(work));
  const [heavy, light] = [queue.lane(), queue.lane()];
  let heavyRuns = 0;
  for (let i = 0; i < 250; i++)
    heavy.offer(() => {
      heavyRuns += 1;
      busy += 38;
    });
  const between: number[] = [];
  const ask = (): void => {
    const before = heavyRuns;
    light.offer(() => {
      between.push(heavyRuns - before);
      if (between.length < 50) time.soon(ask);
    });
  };
  time.soon(ask);
  time.advance(0);
  assert.deepEqual([between.length, heavyRuns], [50, 250]);
  assert.ok(Math.max(...between) <= 2, `requests of the heavy client in between: ${between.join()}`);
});

test("starts no request of a blocked client until it is unblocked, and then all in order", () => {
  const time = fakeTime();
  let isBlocked = false;
  const lane = createFairQueue(time, (work) => time.soon(work)).lane(() => isBlocked);
  const ran: number[] = [];
  lane.offer(() => {
    ran.push(0);
    isBlocked = true;
  });
  for (let i = 1; i < 50; i++) lane.offer(() => ran.push(i));
  time.advance(1000);
  assert.deepEqual([ran, lane.size()], [[0], 49]);
  isBlocked = false;
  lane.unblock();
  time.advance(1000);
  assert.deepEqual(
    ran,
    Array.from({ length: 50 }, (_, i) => i),
  );
});

test("starts nothing more for a closed lane", () => {
  const time = fakeTime();
  const lane = createFairQueue(time, (work) => time.soon(work)).lane();
  let ran = 0;
  for (let i = 0; i < 100; i++) lane.offer(() => (ran += 1));
  lane.close();
  const before = ran;
  time.advance(1000);
  assert.equal(ran, before);
});

test("runs every request of every client once and in order, at any cost", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(4), fc.integer({ min: 0, max: 60 }), fc.nat(20)), { maxLength: 200 }),
      (requests) => {
        const time = fakeTime();
        let extra = 0;
        const clock = { now: () => time.now(), ticks: () => time.ticks() + extra };
        const queue = createFairQueue(clock, (work) => time.soon(work));
        const lanes = Array.from({ length: 5 }, () => queue.lane());
        const ran: [number, number][] = [];
        for (const [at, [who, cost, pause]] of requests.entries()) {
          lanes[who]?.offer(() => {
            ran.push([who, at]);
            extra += cost;
          });
          if (pause === 0) time.advance(1);
        }
        time.advance(1000);
        for (let who = 0; who < 5; who++) {
          const wanted = requests.flatMap(([lane], at) => (lane === who ? [at] : []));
          assert.deepEqual(
            ran.flatMap(([lane, at]) => (lane === who ? [at] : [])),
            wanted,
          );
        }
      },
    ),
  );
});
