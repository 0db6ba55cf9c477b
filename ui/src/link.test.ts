import assert from "node:assert/strict";
import { test } from "node:test";

import { readLink } from "./link.ts";

test("a pairing link gives its code and leaves a clean address", () => {
  assert.deepEqual(readLink("http://127.0.0.1:18789/base/#pair=ab12-CD"), {
    code: "ab12-CD",
    refusedToken: false,
    cleanUrl: "http://127.0.0.1:18789/base/",
  });
});

test("an empty code is no code, and still leaves the address", () => {
  assert.deepEqual(readLink("http://h/#pair="), { refusedToken: false, cleanUrl: "http://h/" });
});

test("a place in the page is left alone", () => {
  assert.deepEqual(readLink("http://h/?x=1#/tools/read"), { refusedToken: false });
  assert.deepEqual(readLink("http://h/"), { refusedToken: false });
});

test("tokens and foreign gateways in an address are thrown away, the rest of it stays", () => {
  assert.deepEqual(readLink("http://h/?token=secret&x=1#/tools"), {
    refusedToken: true,
    cleanUrl: "http://h/?x=1#/tools",
  });
  assert.deepEqual(readLink("http://h/?gatewayUrl=wss://evil"), { refusedToken: true, cleanUrl: "http://h/" });
  assert.deepEqual(readLink("http://h/#token=secret"), { refusedToken: true, cleanUrl: "http://h/" });
});

test("a code beside a token still works", () => {
  assert.deepEqual(readLink("http://h/?password=p#pair=c"), { code: "c", refusedToken: true, cleanUrl: "http://h/" });
});
