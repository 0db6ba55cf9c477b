import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

import { createLanes } from "./lane.ts";

test("runs work of one key in order and of two keys in parallel, also after a failure", async () => {
  const lanes = createLanes();
  const seen: string[] = [];
  const step = (key: string, name: string) =>
    lanes.run(key, async () => {
      seen.push(`${name} in`);
      await turn();
      await turn();
      seen.push(`${name} out`);
      if (name === "a1") throw new Error("a1 fails");
    });
  const results = await Promise.allSettled([step("a", "a1"), step("a", "a2"), step("b", "b1")]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled"],
  );
  assert.deepEqual(
    seen.filter((word) => word.startsWith("a")),
    ["a1 in", "a1 out", "a2 in", "a2 out"],
  );
  assert.ok(seen.indexOf("b1 in") < seen.indexOf("a1 out"), "b waits for nobody");
  await turn();
  assert.equal(lanes.size, 0);
});

test("a waiter that gives up does not let the next one overtake", async () => {
  const lanes = createLanes();
  const gate = Promise.withResolvers<void>();
  const control = new AbortController();
  const seen: string[] = [];
  const first = lanes.run("k", () => gate.promise.then(() => void seen.push("first")));
  const second = lanes.run("k", async () => void seen.push("second"), control.signal);
  const third = lanes.run("k", async () => void seen.push("third"));
  control.abort(new Error("enough"));
  await assert.rejects(second, /enough/);
  assert.deepEqual(seen, []);
  gate.resolve();
  await Promise.all([first, third]);
  assert.deepEqual(seen, ["first", "third"]);
});
