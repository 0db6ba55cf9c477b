// parseStrict agrees with JSON.parse on everything it accepts, and accepts nothing ambiguous.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { parseStrict } from "./strict-json.ts";

test("agrees with JSON.parse on every JSON value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(parseStrict(text), JSON.parse(text));
    }),
    { numRuns: 2000 },
  );
});

test("throws where JSON.parse throws, and only errors", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]:,"\\ a1u0'.split("")) }), (text) => {
      const strict = attempt(() => parseStrict(text));
      const plain = attempt(() => JSON.parse(text) as unknown);
      if (plain.ok && strict.ok) assert.deepEqual(strict.value, plain.value);
      if (!plain.ok) assert.equal(strict.ok, false);
    }),
    { numRuns: 5000 },
  );
});

for (const text of [
  '{"a":1,"a":2}',
  '{"x":{"b":1,"\\u0062":2}}',
  '[{"k":[],"k":{}}]',
  '{"__proto__":1,"__proto__":2}',
]) {
  test(`rejects ${text}`, () => assert.throws(() => parseStrict(text), { code: "json.duplicate-key" }));
}

test("accepts the same key in two objects", () => {
  assert.deepEqual(parseStrict('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":"a\\":1,\\"a"}'), {
    a: { a: 1 },
    b: [{ a: 1 }, { a: 2 }],
    c: 'a":1,"a',
  });
});

test("rejects a hundred thousand levels without a stack overflow", () => {
  assert.throws(() => parseStrict("[".repeat(100_000)), { code: "json.too-deep" });
});

function attempt(work: () => unknown): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: work() };
  } catch {
    return { ok: false };
  }
}
