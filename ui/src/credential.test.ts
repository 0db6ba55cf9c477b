import assert from "node:assert/strict";
import { test } from "node:test";

import { afterRefusal, afterConnect, nextCredential, toAuth } from "./credential.ts";

const mismatch = {
  code: "INVALID_REQUEST",
  message: "unauthorized: gateway token mismatch (open the dashboard URL …)",
};

test("the device token goes first, then the link, then what was typed", () => {
  assert.deepEqual(nextCredential({ token: "t", link: "l", device: "d" }), { kind: "device", secret: "d" });
  assert.deepEqual(nextCredential({ token: "t", link: "l" }), { kind: "link", secret: "l" });
  assert.deepEqual(nextCredential({ password: "p" }), { kind: "password", secret: "p" });
  assert.deepEqual(nextCredential({}), { kind: "none", secret: "" });
});

test("links and tokens travel as token, a password as password, nothing as nothing", () => {
  assert.deepEqual(toAuth({ kind: "link", secret: "l" }), { token: "l" });
  assert.deepEqual(toAuth({ kind: "password", secret: "p" }), { password: "p" });
  assert.equal(toAuth({ kind: "none", secret: "" }), undefined);
});

test("a welcome with a device token replaces every other secret", () => {
  assert.deepEqual(afterConnect({ link: "l", token: "t" }, "d"), { device: "d" });
  assert.deepEqual(afterConnect({ link: "l", token: "t" }, undefined), { token: "t" });
});

test("a mismatch drops the secret that was shown and goes on with the next", () => {
  assert.deepEqual(afterRefusal({ device: "d", link: "l" }, "device", mismatch), {
    secrets: { link: "l" },
    step: { next: "again" },
  });
  assert.deepEqual(afterRefusal({ link: "l" }, "link", mismatch), { secrets: {}, step: { next: "ask" } });
});

test("without a secret the person is asked, and nothing is dropped", () => {
  const missing = { code: "INVALID_REQUEST", message: "unauthorized: gateway token missing" };
  assert.deepEqual(afterRefusal({}, "none", missing), { secrets: {}, step: { next: "ask" } });
});

test("pairing waits and keeps the secret it came with", () => {
  const failure = { code: "NOT_PAIRED", message: "pairing required", details: { requestId: "r1" } };
  assert.deepEqual(afterRefusal({ token: "t" }, "token", failure), {
    secrets: { token: "t" },
    step: { next: "wait", requestId: "r1" },
  });
});

test("a refusal that is not about the secret keeps it", () => {
  const origin = { code: "INVALID_REQUEST", message: "origin not allowed" };
  assert.deepEqual(afterRefusal({ device: "d" }, "device", origin), {
    secrets: { device: "d" },
    step: { next: "ask" },
  });
});

test("being told to wait is waiting, not a wrong secret", () => {
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
