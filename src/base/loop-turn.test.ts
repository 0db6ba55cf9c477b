// Turns of the event loop for bursts of work.
import assert from "node:assert/strict";
import { setImmediate as immediate } from "node:timers/promises";
import { test } from "node:test";

import { loopTurn } from "./loop-turn.ts";

test("callers that wait together continue one in each turn, in order", async () => {
  const events: string[] = [];
  const all = Promise.all(
    ["a", "b", "c"].map(async (name) => {
      await loopTurn();
      events.push(name);
      await Promise.resolve();
      events.push(`${name}, next step`);
    }),
  );
  for (let turn = 1; turn <= 3; turn += 1) {
    await immediate();
    events.push(`turn ${turn}`);
  }
  await all;
  assert.deepEqual(
    events.filter((event) => !event.startsWith("turn")),
    ["a", "a, next step", "b", "b, next step", "c", "c, next step"],
  );
  assert.ok(events.indexOf("turn 1") < events.indexOf("c"), events.join(" | "));
});
