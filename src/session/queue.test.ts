// The queue rules as tables of cases.
import assert from "node:assert/strict";
import { test } from "node:test";

import { capQueue, mergeTexts, nextBatch, onArrival, parseQueueMode, queueSettings, quietFor } from "./queue.ts";

test("decides about an arriving message by mode, idle and busy", () => {
  const modes = ["collect", "followup", "steer", "steer-backlog", "interrupt"] as const;
  assert.deepEqual(
    modes.map((mode) => [mode, onArrival(mode, false), onArrival(mode, true)]),
    [
      ["collect", "run", "queue"],
      ["followup", "run", "queue"],
      ["steer", "run", "steer"],
      ["steer-backlog", "run", "steer-and-queue"],
      ["interrupt", "run", "interrupt"],
    ],
  );
});

test("accepts older names of modes", () => {
  const words = ["queue", "steer+backlog", "collect", "nonsense", undefined, 7];
  assert.deepEqual(
    words.map((word) => parseQueueMode(word)),
    ["steer", "steer-backlog", "collect", undefined, undefined, undefined],
  );
});

test("prefers the session's setting over the channel's, and that over the general one", () => {
  const config = {
    messages: { queue: { mode: "followup", byChannel: { telegram: "steer" }, debounceMsByChannel: { telegram: 5 } } },
  } as const;
  assert.deepEqual(
    queueSettings(config, { queueMode: "interrupt", queueCap: 3, queueDrop: "old", queueDebounceMs: 0 }, "telegram"),
    {
      mode: "interrupt",
      debounceMs: 0,
      cap: 3,
      drop: "old",
    },
  );
  assert.deepEqual(queueSettings(config, {}, "telegram"), { mode: "steer", debounceMs: 5, cap: 20, drop: "summarize" });
  assert.deepEqual(queueSettings({}, {}), { mode: "collect", debounceMs: 1000, cap: 20, drop: "summarize" });
});

test("drops messages over the cap by the drop rule", () => {
  const waiting = [1, 2, 3, 4, 5];
  assert.deepEqual(capQueue(waiting, { cap: 3, drop: "old" }), { kept: [3, 4, 5], dropped: [1, 2] });
  assert.deepEqual(capQueue(waiting, { cap: 3, drop: "summarize" }), { kept: [3, 4, 5], dropped: [1, 2] });
  assert.deepEqual(capQueue(waiting, { cap: 3, drop: "new" }), { kept: [1, 2, 3], dropped: [4, 5] });
  assert.deepEqual(capQueue(waiting, { cap: 5, drop: "old" }), { kept: waiting, dropped: [] });
});

test("batches messages for the next turn by mode", () => {
  const talk = { text: "x", needsOwnTurn: false };
  const own = { text: "y", needsOwnTurn: true };
  assert.equal(nextBatch([talk, talk, talk], "collect"), 3);
  assert.equal(nextBatch([talk, own, talk], "collect"), 1);
  assert.equal(nextBatch([own, talk], "collect"), 1);
  assert.equal(nextBatch([talk, talk], "followup"), 1);
  assert.equal(nextBatch([], "collect"), 0);
});

test("joins messages, and shortens those that did not fit to one line", () => {
  assert.equal(mergeTexts(["only"]), "only");
  assert.equal(
    mergeTexts(["a", "b"], ["old\nsecond line"]),
    "[1 earlier messages did not fit in the queue; shortened:]\n- old\n\n[2 messages arrived while you were busy; answer them together]\n\nMessage 1:\na\n\nMessage 2:\nb",
  );
});

test("waits at most the debounce time, also when the clock jumps", () => {
  assert.equal(quietFor(1000, 1400, 1000), 600);
  assert.equal(quietFor(1000, 2500, 1000), 0);
  assert.equal(quietFor(99_000, 1000, 1000), 1000);
});
