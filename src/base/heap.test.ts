// When garbage is collected: once soon after the start, then after each period of work, never while busy.
import assert from "node:assert/strict";
import { test } from "node:test";

import { createIdleCollector } from "./heap.ts";

function open() {
  let [active, collected, busy] = [0, 0, 0];
  const look = createIdleCollector({
    activeMs: () => active,
    collect: () => (collected += 1),
    busy: () => (busy += 1),
  });
  return {
    busy: () => busy,
    after(workMs: number): number {
      active += workMs;
      look();
      return collected;
    },
  };
}

test("collects at the first check, also while busy", () => {
  assert.equal(open().after(10_000), 1);
});

test("collects once after work has ended, and not again while idle", () => {
  const process = open();
  process.after(500);
  assert.deepEqual([process.after(9000), process.after(8000)], [1, 1]);
  assert.deepEqual([process.after(10), process.after(10), process.after(10)], [2, 2, 2]);
  assert.equal(process.busy(), 3, "room for young objects is looked after at each busy look");
});

test("does not collect for the small amount of work of an idle process", () => {
  const process = open();
  process.after(500);
  for (let i = 0; i < 19; i++) assert.equal(process.after(10), 1);
  assert.equal(process.after(20), 2);
});
