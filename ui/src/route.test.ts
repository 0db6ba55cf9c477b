import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { parseRoute, toHash } from "./route.ts";

test("a written route can be parsed", () => {
  const part = fc.string({ minLength: 1, unit: "grapheme" });
  fc.assert(
    fc.property(part, fc.array(part), (view, rest) => {
      assert.deepEqual(parseRoute(toHash(view, ...rest)), { view, rest });
    }),
  );
});

test("other fragments name no view", () => {
  assert.deepEqual(parseRoute(""), { view: "", rest: [] });
  assert.deepEqual(parseRoute("#pair=x"), { view: "", rest: [] });
  assert.deepEqual(parseRoute("#/%zz/a"), { view: "%zz", rest: ["a"] });
});
