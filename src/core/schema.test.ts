// An invalid value always has issues, however many parts of it are invalid.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { checker, describeIssues, Type } from "./schema.ts";

const closed = checker(
  Type.Object(
    {
      name: Type.String(),
      timeout: Type.Optional(Type.Number({ minimum: 0 })),
      inner: Type.Optional(Type.Object({ flag: Type.Boolean() }, { additionalProperties: false })),
    },
    { additionalProperties: false },
  ),
);
const extraKeys = (count: number, name = "k"): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${name}${at}`, at]));

test("reports any number of unknown properties, alone and beside another issue", () => {
  for (const count of [1, 2, 7, 8, 9, 31, 32, 33, 64, 500]) {
    for (const value of [
      { name: "x", ...extraKeys(count) },
      { ...extraKeys(count), name: "x", timeout: -1 },
      { name: "x", inner: { flag: true, ...extraKeys(count) } },
    ]) {
      assert.notDeepEqual(closed.issues(value), [], `${count}`);
      assert.throws(() => closed.parse(value, "test.bad", "value"));
    }
    assert.match(
      describeIssues(closed.issues({ name: "x", ...extraKeys(count) })),
      /^at root: unexpected property 'k0'/,
    );
  }
});

test("reports issues exactly when the value is invalid", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.oneof(fc.constantFrom("name", "timeout", "inner"), fc.string()), fc.jsonValue(), {
        maxKeys: 40,
      }),
      (value) => (closed.issues(value).length === 0) === closed.is(value),
    ),
    { numRuns: 300 },
  );
});

test("escapes and truncates names chosen by the sender", () => {
  const said = describeIssues(
    closed.issues({ name: "x", ["\u001b]52;c;eA==\u0007\n\u009b"]: 1, ["y".repeat(5000)]: 1 }),
  );
  assert.doesNotMatch(said, /\p{Cc}/u);
  assert.ok(said.length < 1000, said);
});
