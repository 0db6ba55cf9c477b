// Wrong secrets are counted and slowed down; right ones pass, and guessable ones are compared at a limited rate.
import assert from "node:assert/strict";
import { test } from "node:test";

import { systemClock } from "../base/clock.ts";
import { callerOf, callerOfDevice, createThrottle, type Caller, type Verdict } from "./throttle.ts";

const peer = (address: string, local = false) => ({
  address,
  local,
  origin: undefined,
  host: undefined,
  userAgent: undefined,
});

interface Run {
  try(right: boolean, options?: { guessable?: boolean; caller?: Caller }): Promise<Verdict>;
  /** How many secrets were compared. */
  compared(): number;
  later(ms: number): void;
}

function start(): Run {
  let ticks = 1000;
  let count = 0;
  const throttle = createThrottle({ ...systemClock, ticks: () => ticks });
  return {
    try: (right, { guessable = false, caller = callerOf(peer("203.0.113.9")) } = {}) =>
      throttle.check({
        caller,
        guessable,
        isRight() {
          count += 1;
          return right;
        },
      }),
    compared: () => count,
    later(ms) {
      ticks += ms;
    },
  };
}

test("always compares a random secret, after any number of failures", async () => {
  const run = start();
  const verdicts: Verdict[] = [];
  for (let index = 0; index < 1000; index += 1) verdicts.push(await run.try(false));
  assert.deepEqual(
    verdicts.slice(0, 10),
    Array.from({ length: 10 }, () => ({ ok: false, waitMs: 0 })),
  );
  assert.ok(verdicts.slice(10).every((verdict) => !verdict.ok && verdict.waitMs > 0));
  assert.deepEqual(await run.try(true), { ok: true });
  assert.equal(run.compared(), 1001);
});

test("compares a guessable secret ten times without delay and then at a limited rate", async () => {
  const run = start();
  const verdicts = Promise.all(Array.from({ length: 500 }, () => run.try(false, { guessable: true })));
  // The first one after the free ones is compared immediately, one more waits for it; the clock does not advance here.
  assert.ok(run.compared() <= 11, String(run.compared()));
  run.later(60_000);
  assert.deepEqual(await run.try(true, { guessable: true }), { ok: true }, "a right one is compared");
  await verdicts;
  assert.ok(run.compared() <= 13, String(run.compared()));
});

test("forgets failures after five quiet minutes", async () => {
  const run = start();
  for (let index = 0; index < 12; index += 1) await run.try(false);
  run.later(5 * 60_000 + 1);
  assert.deepEqual(await run.try(false), { ok: false, waitMs: 0 });
});

test("counts callers separately: this machine, each network, each paired device", async () => {
  const keyOf = ({ key }: Caller): string => key;
  const keys = [
    callerOf(peer("127.0.0.1", true)),
    callerOf(peer("127.0.0.1")),
    callerOf(peer("203.0.113.9")),
    callerOf(peer("203.0.113.9"), "webhook"),
    callerOf(peer("2001:db8:1:2::1")),
    callerOf(peer("2001:db8:1:3::1")),
    callerOfDevice("a"),
    callerOfDevice("b"),
  ].map(keyOf);
  assert.equal(new Set(keys).size, keys.length);
  const sameNetwork = ["2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:2:0:0:0:1"].map((address) =>
    keyOf(callerOf(peer(address))),
  );
  assert.equal(new Set(sameNetwork).size, 1);
});
