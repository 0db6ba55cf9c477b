// Secrets are compared by digest: neither the place of a difference nor a length can be timed, and nothing equals nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { sameSecret } from "./ids.ts";

test("GWY-017 equal only to itself, whatever the lengths", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (secret, other) => {
      assert.equal(sameSecret(secret, secret), true);
      assert.equal(sameSecret(other, secret), other === secret);
    }),
  );
});

test("never accepts an empty secret", () => {
  for (const given of ["", "undefined", "null"]) assert.equal(sameSecret(given, ""), false);
});
