// Resources that open with their first use, and failures to open.
import assert from "node:assert/strict";
import { test } from "node:test";

import { lazy } from "./lazy.ts";

test("opens once, however often it is used", async () => {
  let times = 0;
  const one = lazy(async () => ++times);
  assert.equal(await one.opened(), undefined);
  assert.deepEqual(await Promise.all([one.get(), one.get(), one.get()]), [1, 1, 1]);
  assert.equal(await one.opened(), 1);
});

test("tries again after a failure, and a failed opening does not prevent closing", async () => {
  let times = 0;
  const one = lazy(async () => {
    if (++times < 3) throw new Error(`too many open files (${times})`);
    return "open";
  });
  await assert.rejects(one.get(), /\(1\)/);
  assert.equal(await one.opened(), undefined);
  const [first, second] = [one.get(), one.get()];
  const meanwhile = one.opened();
  await assert.rejects(first, /\(2\)/);
  await assert.rejects(second, /\(2\)/);
  assert.equal(await meanwhile, undefined);
  assert.equal(await one.get(), "open");
});
