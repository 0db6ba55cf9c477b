import assert from "node:assert/strict";
import { test } from "node:test";

import { readLink } from "./link.ts";

test("reads the code of a pairing link and removes it from the address", () => {
  assert.deepEqual(readLink("http://127.0.0.1:18789/base/#pair=ab12-CD"), {
    code: "ab12-CD",
    refusedToken: false,
    cleanUrl: "http://127.0.0.1:18789/base/",
  });
});

test("ignores an empty code and removes it from the address", () => {
  assert.deepEqual(readLink("http://h/#pair="), { refusedToken: false, cleanUrl: "http://h/" });
});

test("keeps an address that names a view", () => {
  assert.deepEqual(readLink("http://h/?x=1#/tools/read"), { refusedToken: false });
  assert.deepEqual(readLink("http://h/"), { refusedToken: false });
});

test("ignores tokens and gateway addresses in a link and removes them", () => {
  assert.deepEqual(readLink("http://h/?token=secret&x=1#/tools"), {
    refusedToken: true,
    cleanUrl: "http://h/?x=1#/tools",
  });
  assert.deepEqual(readLink("http://h/?gatewayUrl=wss://evil"), { refusedToken: true, cleanUrl: "http://h/" });
  assert.deepEqual(readLink("http://h/#token=secret"), { refusedToken: true, cleanUrl: "http://h/" });
});

test("accepts a code next to an ignored token", () => {
  assert.deepEqual(readLink("http://h/?password=p#pair=c"), { code: "c", refusedToken: true, cleanUrl: "http://h/" });
});
