import assert from "node:assert/strict";
import { test } from "node:test";

import { afterRefusal, afterConnect, nextCredential, toAuth } from "./credential.ts";

const mismatch = {
  code: "INVALID_REQUEST",
  message: "unauthorized: gateway token mismatch (open the dashboard URL …)",
};

test("presents the device token first, then the link, then a typed secret", () => {
  assert.deepEqual(nextCredential({ token: "t", link: "l", device: "d" }), { kind: "device", secret: "d" });
  assert.deepEqual(nextCredential({ token: "t", link: "l" }), { kind: "link", secret: "l" });
  assert.deepEqual(nextCredential({ password: "p" }), { kind: "password", secret: "p" });
  assert.deepEqual(nextCredential({}), { kind: "none", secret: "" });
});

test("sends links and tokens as token, and a password as password", () => {
  assert.deepEqual(toAuth({ kind: "link", secret: "l" }), { token: "l" });
  assert.deepEqual(toAuth({ kind: "password", secret: "p" }), { password: "p" });
  assert.equal(toAuth({ kind: "none", secret: "" }), undefined);
});

test("a device token replaces every other secret after a connect", () => {
  assert.deepEqual(afterConnect({ link: "l", token: "t" }, "d"), { device: "d" });
  assert.deepEqual(afterConnect({ link: "l", token: "t" }, undefined), { token: "t" });
});

test("drops a rejected secret and tries the next", () => {
  assert.deepEqual(afterRefusal({ device: "d", link: "l" }, "device", mismatch), {
    secrets: { link: "l" },
    step: { next: "again" },
  });
  assert.deepEqual(afterRefusal({ link: "l" }, "link", mismatch), { secrets: {}, step: { next: "ask" } });
});

test("asks the person when there is no secret", () => {
  const missing = { code: "INVALID_REQUEST", message: "unauthorized: gateway token missing" };
  assert.deepEqual(afterRefusal({}, "none", missing), { secrets: {}, step: { next: "ask" } });
});

test("keeps the secret while it waits for pairing", () => {
  const failure = { code: "NOT_PAIRED", message: "pairing required", details: { requestId: "r1" } };
  assert.deepEqual(afterRefusal({ token: "t" }, "token", failure), {
    secrets: { token: "t" },
    step: { next: "wait", requestId: "r1" },
  });
});

test("keeps the secret when it is not the reason for a rejection", () => {
  const origin = { code: "INVALID_REQUEST", message: "origin not allowed" };
  assert.deepEqual(afterRefusal({ device: "d" }, "device", origin), {
    secrets: { device: "d" },
    step: { next: "ask" },
  });
});

test("waits when the gateway asks to retry later", () => {
  const throttled = {
    code: "INVALID_REQUEST",
    message: "unauthorized: too many failed attempts, wait 8 s",
    retryAfterMs: 8000,
  };
  assert.deepEqual(afterRefusal({ token: "t" }, "token", throttled), {
    secrets: { token: "t" },
    step: { next: "later", afterMs: 8000 },
  });
  const down = { code: "UNAVAILABLE", message: "starting" };
  assert.deepEqual(afterRefusal({ device: "d" }, "device", down), {
    secrets: { device: "d" },
    step: { next: "later" },
  });
});
