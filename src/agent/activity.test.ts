// Activity counts add up in any order and stay limited in size.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { Message } from "../core/message.ts";
import {
  activityOf,
  addActivity,
  answeredIn,
  noActivity,
  readActivity,
  summarizeLatency,
  type Activity,
} from "./activity.ts";

const sum = (all: readonly Activity[]): Activity => all.reduce(addActivity, noActivity);

test("counts messages by role, tool calls by name, and failed results", () => {
  const call = (name: string) => ({ type: "toolCall" as const, id: name, name, arguments: {} });
  const result = (isError: boolean): Message => ({
    role: "toolResult",
    toolCallId: "a",
    toolName: "read",
    content: [],
    isError,
    timestamp: 1,
  });
  const messages: Message[] = [
    { role: "user", content: [], timestamp: 1 },
    { role: "assistant", content: [call("read"), call("read"), call("exec")], timestamp: 1 },
    result(false),
    result(true),
    { role: "assistant", content: [{ type: "text", text: "done" }], timestamp: 1 },
  ];
  assert.deepEqual(sum(messages.map(activityOf)), {
    ...noActivity,
    user: 1,
    assistant: 2,
    toolCalls: 3,
    toolResults: 2,
    errors: 1,
    tools: { read: 2, exec: 1 },
  });
});

test("estimates the 95th percentile within 5% from rows of limited size", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 600_000 }), { minLength: 1, maxLength: 200 }), (times) => {
      const { latency } = readActivity(JSON.parse(JSON.stringify(sum(times.map(answeredIn)))));
      const sorted = times.toSorted((a, b) => a - b);
      const real = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0;
      const { p95Ms, count, avgMs, minMs, maxMs } = summarizeLatency(latency) ?? assert.fail("nothing was counted");
      assert.ok(p95Ms >= Math.min(real, maxMs) * 0.95 - 1 && p95Ms <= real * 1.05 + 1, `${p95Ms} for ${real}`);
      assert.deepEqual([count, minMs, maxMs], [times.length, sorted[0], sorted.at(-1)]);
      assert.ok(Math.abs(avgMs - times.reduce((a, b) => a + b, 0) / times.length) < 1e-6);
      assert.ok(Object.keys(latency.buckets).length < 300);
    }),
  );
});

test("counts further tool names together when a model invents many", () => {
  const all = sum(
    Array.from({ length: 1000 }, (_, index) => ({ ...noActivity, toolCalls: 1, tools: { [`tool-${index}`]: 1 } })),
  );
  assert.equal(Object.keys(all.tools).length, 200);
  assert.equal(
    Object.values(all.tools).reduce((a, b) => a + b, 0),
    1000,
  );
  assert.equal(all.tools["other"], 801);
});

test("counts a damaged row as zero", () => {
  for (const value of [undefined, null, 1, "x", [], { tools: 3, latency: "x", user: "1" }])
    assert.deepEqual(readActivity(value), noActivity);
});
