// Paths are parsed as they are formatted, and get, set and unset agree with each other.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { formatPath, getAt, hasAt, parsePath, setAt, unsetAt } from "./path.ts";

test("parses dots, brackets and quotes", () => {
  const read = Object.fromEntries(
    [
      "agents.list[0].tools.exec.node",
      'channels.telegram.groups["-100.5"]',
      "a['it\\'s'].b",
      "[0][1]",
      "x[two].y",
      "a.0.b",
    ].map((written) => [written, parsePath(written)]),
  );
  assert.deepEqual(read, {
    "agents.list[0].tools.exec.node": ["agents", "list", 0, "tools", "exec", "node"],
    'channels.telegram.groups["-100.5"]': ["channels", "telegram", "groups", "-100.5"],
    "a['it\\'s'].b": ["a", "it's", "b"],
    "[0][1]": [0, 1],
    "x[two].y": ["x", "two", "y"],
    "a.0.b": ["a", "0", "b"],
  });
});

test("rejects invalid paths", () => {
  for (const written of [
    "",
    ".",
    "a.",
    "a..b",
    "a[",
    "a]",
    "a[]",
    'a["x]',
    "a b",
    "__proto__.x",
    'a["constructor"]',
    "[prototype]",
  ]) {
    assert.throws(() => parsePath(written), { code: "config.bad-path" }, written);
  }
});

test("parses every formatted path", () => {
  const segment = fc.oneof(
    fc
      .string({ minLength: 0, maxLength: 8, unit: "grapheme" })
      .filter((key) => !["__proto__", "constructor", "prototype"].includes(key)),
    fc.nat(50),
  );
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 6 }), (path) => {
      assert.deepEqual(parsePath(formatPath(path)), path);
    }),
  );
});

test("set creates parents and does not change the original", () => {
  const before = { a: { b: [1, 2] } };
  assert.deepEqual(setAt(before, ["a", "b", 2], 3), { a: { b: [1, 2, 3] } });
  assert.deepEqual(setAt(before, ["x", "y", 0, "z"], true), { a: { b: [1, 2] }, x: { y: [{ z: true }] } });
  assert.deepEqual(setAt(before, [], 7), 7);
  assert.deepEqual(before, { a: { b: [1, 2] } });
});

test("rejects impossible steps", () => {
  const value = { text: "hi", list: [1], none: null, object: {} };
  const refused: (string | number)[][] = [
    ["text", "x"],
    ["list", "x"],
    ["list", 2],
    ["none", "x"],
    ["object", 0],
    ["fresh", 1],
    ["__proto__", "x"],
  ];
  for (const path of refused) assert.throws(() => setAt(value, path, 1), { code: "config.bad-path" }, formatPath(path));
});

test("unset removes only what exists", () => {
  const value = { a: { b: [1, 2, 3], c: 4 } };
  assert.deepEqual(unsetAt(value, ["a", "b", 1]), { a: { b: [1, 3], c: 4 } });
  assert.deepEqual(unsetAt(value, ["a", "c"]), { a: { b: [1, 2, 3] } });
  assert.equal(unsetAt(value, ["nothing", "here"]), value);
});

test("sees own properties only", () => {
  assert.equal(getAt({}, ["toString"]), undefined);
  assert.equal(hasAt({ a: undefined }, ["a"]), true);
  assert.equal(hasAt([1], [1]), false);
});
