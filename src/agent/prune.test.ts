// Old tool results are trimmed, then cleared; recent results, images and excepted tools stay.
import assert from "node:assert/strict";
import { test } from "node:test";

import { textOf, type Block, type Message } from "../core/message.ts";
import { pruneResults, type PruningRules } from "./prune.ts";

const NOW = 10 * 60_000;
const turn = (index: number, chars: number, name = "read", content?: readonly Block[]): Message[] => [
  { role: "user", content: [{ type: "text", text: `do ${index}` }], timestamp: index },
  { role: "assistant", content: [{ type: "toolCall", id: `c${index}`, name, arguments: {} }], timestamp: index },
  {
    role: "toolResult",
    toolCallId: `c${index}`,
    toolName: name,
    content: content ?? [{ type: "text", text: "r".repeat(chars) }],
    isError: false,
    timestamp: index,
  },
  { role: "assistant", content: [{ type: "text", text: "done" }], timestamp: index },
];
const lengths = (messages: readonly Message[]): number[] =>
  messages.flatMap((message) => (message.role === "toolResult" ? [textOf(message.content).length] : []));
const talk = [0, 1, 2, 3].flatMap((index) => turn(index, 20_000));
const pruned = (
  rules: PruningRules | undefined,
  messages: readonly Message[] = talk,
  window = 30_000,
  now = NOW,
): number[] => lengths(pruneResults(messages, rules, window, now));

test("trims no result when off, below the ratio, or within the cache time", () => {
  const whole = [20_000, 20_000, 20_000, 20_000];
  assert.deepEqual(pruned(undefined), whole);
  assert.deepEqual(pruned({ mode: "off" }), whole);
  assert.deepEqual(pruned({ mode: "adaptive" }, talk, 200_000), whole);
  assert.deepEqual(pruned({ mode: "cache-ttl", ttl: "5m" }, talk, 30_000, 60_000), whole);
});

test("trims old results above the soft ratio and clears them above the hard ratio", () => {
  const soft = pruned({ mode: "cache-ttl", ttl: "5m" });
  assert.deepEqual([soft.map((length) => length < 4000), soft.at(-1)], [[true, true, true, false], 20_000]);
  const cleared = pruned({ mode: "adaptive", minPrunableToolChars: 1000, hardClearRatio: 0.1 });
  assert.deepEqual(cleared.slice(0, 2), [33, 33]);
  assert.equal(cleared.at(-1), 20_000);
});

test("keeps images and results of excepted tools", () => {
  const picture = turn(0, 0, "image", [
    { type: "image", data: "x", mimeType: "image/png" },
    { type: "text", text: "r".repeat(20_000) },
  ]);
  const messages = [...picture, ...turn(1, 20_000, "web"), ...turn(2, 20_000), ...turn(3, 20_000), ...turn(4, 20_000)];
  const kept = pruned({ mode: "aggressive", tools: { deny: ["web"] } }, messages);
  assert.deepEqual([kept[0], kept[1], (kept[2] ?? 0) < 4000], [20_000, 20_000, true]);
});
