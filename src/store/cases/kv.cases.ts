// Contract cases of the key-value table.
import assert from "node:assert/strict";
import { it } from "node:test";

import fc from "fast-check";

import type { Ground } from "./context.ts";
import { anyBody } from "./sample.ts";

export function kvCases(ground: Ground): void {
  it("returns any value under any key, separately for each space", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), anyBody, async (key, value) => {
        const { kv } = ground.store();
        await kv.set("space", key, value);
        assert.deepEqual(await kv.get("space", key), value);
        assert.equal(await kv.get("elsewhere", key), undefined);
      }),
      { numRuns: 80 },
    );
  });

  it("deletes with undefined and keeps null", async () => {
    await ground.store().kv.set("s", "gone", 1);
    await ground.store().kv.set("s", "gone", undefined);
    await ground.store().kv.set("s", "null", null);
    const store = await ground.restart();
    assert.equal(await store.kv.get("s", "gone"), undefined);
    assert.deepEqual(await store.kv.list("s"), [{ key: "null", value: null }]);
  });

  it("lists a range of keys, including its start and excluding its end", async () => {
    const { kv } = ground.store();
    for (const key of ["a|1", "a|2", "a|3", "b|1"]) await kv.set("range", key, key);
    const keys = async (from: string, below: string): Promise<string[]> =>
      (await kv.list("range", { from, below })).map(({ key }) => key);
    assert.deepEqual(await keys("a|", "a|~"), ["a|1", "a|2", "a|3"]);
    assert.deepEqual(await keys("a|2", "a|3"), ["a|2"]);
    assert.deepEqual(await keys("c", "d"), []);
  });

  it("writes several rows together or not at all", async () => {
    const { kv } = ground.store();
    await kv.set("a", "gone", 1);
    await kv.setAll([
      { space: "a", key: "gone", value: undefined },
      { space: "b", key: "new", value: { n: 1 } },
    ]);
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    await assert.rejects(
      kv.setAll([
        { space: "b", key: "new", value: 2 },
        { space: "b", key: "bad", value: cyclic },
      ]),
    );
    const store = await ground.restart();
    assert.deepEqual([await store.kv.list("a"), await store.kv.list("b")], [[], [{ key: "new", value: { n: 1 } }]]);
  });

  it("lists a space by key", async () => {
    const { kv } = ground.store();
    for (const key of ["b", "a", "c"]) await kv.set("s", key, key.toUpperCase());
    assert.deepEqual(await kv.list("s"), [
      { key: "a", value: "A" },
      { key: "b", value: "B" },
      { key: "c", value: "C" },
    ]);
    assert.deepEqual(await kv.list("empty"), []);
  });

  it("keeps the last of many writes to one key", async () => {
    const { kv } = ground.store();
    await Promise.all(Array.from({ length: 500 }, (_, index) => kv.set("s", "k", index)));
    assert.equal(await kv.get("s", "k"), 499);
  });
}
