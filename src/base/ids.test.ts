// Secrets are compared by digest, so timing reveals neither the position of a difference nor the length.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { sameSecret } from "./ids.ts";

test("GWY-017 a secret equals only itself, whatever the lengths", () => {
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
