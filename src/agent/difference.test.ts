// The first difference of two values is found for different values only, with its path.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { firstMismatch } from "./difference.ts";

test("finds a mismatch in different JSON and none in equal JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      assert.equal(firstMismatch(left, structuredClone(left)), undefined);
      assert.equal(firstMismatch(left, right) === undefined, JSON.stringify(left) === JSON.stringify(right));
    }),
  );
});

test("finds a changed text by its path, with the text around it", () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), fc.nat(), fc.string({ minLength: 1 }), (list, pick, more) => {
      const at = pick % list.length;
      const changed = list.with(at, `${list[at] ?? ""}${more}`);
      assert.equal(firstMismatch({ a: { b: list } }, { a: { b: changed } })?.path, `a.b[${at}]`);
    }),
  );
});

test("finds missing and added values, and keys in another order", () => {
  assert.deepEqual(firstMismatch({ a: [1] }, { a: [1, 2] }), { path: "a[1]", recorded: "(nothing)", now: "2" });
  assert.deepEqual(firstMismatch({ a: 1, b: 2 }, { a: 1 }), { path: "b", recorded: "2", now: "(nothing)" });
  assert.deepEqual(firstMismatch({ a: 1, b: 2 }, { b: 2, a: 1 }), {
    path: "",
    recorded: '"{\\"a\\":1,\\"b\\":2}"',
    now: '"{\\"b\\":2,\\"a\\":1}"',
  });
  const [before, after] = [`${"x".repeat(500)}old${"y".repeat(500)}`, `${"x".repeat(500)}new${"y".repeat(500)}`];
  const found = firstMismatch({ text: before }, { text: after });
  assert.match(found?.recorded ?? "", /^"…x{60}oldy{57}…"$/);
});
