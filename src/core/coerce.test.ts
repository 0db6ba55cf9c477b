import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { coerce } from "./coerce.ts";
import { checker, Type } from "./schema.ts";

const schema = Type.Object({
  count: Type.Integer(),
  ratio: Type.Number(),
  on: Type.Boolean(),
  name: Type.String(),
  either: Type.Union([Type.String(), Type.Number()]),
  list: Type.Array(Type.Integer()),
  inner: Type.Object({ count: Type.Integer() }),
});

test("reads numbers and booleans that were sent as text", () => {
  assert.deepEqual(coerce(schema, { count: "2", ratio: "0.5", on: "true", list: ["1", 2], inner: { count: "-3" } }), {
    count: 2,
    ratio: 0.5,
    on: true,
    list: [1, 2],
    inner: { count: -3 },
  });
});

test("reads booleans as Python writes them", () => {
  assert.deepEqual(coerce(schema, { on: "True" }), { on: true });
  assert.deepEqual(coerce(schema, { on: "False" }), { on: false });
});

test("rounds a fraction where an integer is required", () => {
  assert.deepEqual(coerce(schema, { count: 2.5, ratio: 2.5 }), { count: 3, ratio: 2.5 });
});

test("leaves everything else unchanged", () => {
  const given = {
    count: " 2",
    ratio: "1e3",
    on: "yes",
    name: "2",
    either: "2",
    list: "1",
    inner: ["count"],
    other: "true",
  };
  assert.equal(coerce(schema, given), given);
});

test("never changes a value that already fits, and never invents one", () => {
  const check = checker(schema);
  fc.assert(
    fc.property(
      fc.anything(),
      fc.dictionary(fc.constantFrom("count", "ratio", "on", "name", "list", "inner"), fc.anything()),
      (any, named) => {
        assert.doesNotThrow(() => coerce(schema, any));
        const coerced = coerce(schema, named) as Record<string, unknown>;
        assert.deepEqual(Object.keys(coerced), Object.keys(named));
        if (check.is(named)) assert.equal(coerced, named);
      },
    ),
  );
});
