// The ws library reads our frames as written, at every header size.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { readFrame } from "../../test/harness/frames.ts";
import { okFrame } from "./client.ts";
import { PreparedJson, sizeOf, textFrame } from "./frame-bytes.ts";

test("encodes text at every header size", () => {
  for (const length of [0, 1, 123, 124, 125, 126, 65_533, 65_534, 65_535, 65_536, 500_000]) {
    const text = "x".repeat(length);
    assert.equal(readFrame(textFrame(JSON.stringify(text))), text);
  }
});

test("encodes any JSON as the ws library reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(readFrame(textFrame(text)), JSON.parse(text));
    }),
  );
});

test("builds a response around prepared JSON with the same shape and shared bytes", () => {
  const value = { list: Array.from({ length: 5000 }, (_, i) => `entry ${i} ✓`) };
  const prepared = new PreparedJson(value);
  const frame = okFrame("q1", prepared);
  assert.deepEqual(readFrame(frame), { type: "res", id: "q1", ok: true, payload: value });
  assert.ok(frame.includes(prepared.bytes), "the large part is not copied");
  assert.ok(sizeOf(frame) - prepared.bytes.length < 100);
});
