// Refusals as the gateway writes them are read back as what they are.
import assert from "node:assert/strict";
import { test } from "node:test";

import { readRefusal, refusalTexts as texts, type Refusal } from "./refusal.ts";

test("every published refusal is read back by its kind", () => {
  const cases: readonly [code: string, message: string, refusal: Refusal][] = [
    ["NOT_PAIRED", texts.pairingRequired, { kind: "pairing-required", requestId: "r1" }],
    ["NOT_PAIRED", texts.identityRequired, { kind: "identity-required" }],
    ["INVALID_REQUEST", texts.protocolMismatch, { kind: "protocol-mismatch" }],
    ["INVALID_REQUEST", texts.secret("token", "mismatch", "x"), { kind: "secret-mismatch", secret: "token" }],
    ["INVALID_REQUEST", texts.secret("password", "missing", "a token"), { kind: "secret-missing", secret: "password" }],
    ["INVALID_REQUEST", texts.throttled(3), { kind: "throttled" }],
    ["INVALID_REQUEST", texts.unknownMethod("no.such"), { kind: "unknown-method" }],
    ["INVALID_REQUEST", texts.missingScope("operator.read"), { kind: "missing-scope" }],
    ["INVALID_REQUEST", texts.stale("config", "config.get"), { kind: "stale" }],
    ["INVALID_REQUEST", "device nonce mismatch", { kind: "other" }],
    ["INVALID_REQUEST", "the token field is missing", { kind: "other" }],
  ];
  for (const [code, message, refusal] of cases)
    assert.deepEqual(readRefusal({ code, message, details: { requestId: "r1" } }), refusal, message);
});
