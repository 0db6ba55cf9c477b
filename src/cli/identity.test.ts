// The device key and the tokens of gateways: created once, private, never sent to another gateway.
import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { keepDeviceToken, openIdentity, readDeviceToken } from "./identity.ts";

const state = mkdtempSync(join(tmpdir(), "identity-"));
after(() => rmSync(state, { recursive: true, force: true }));
const file = join(state, "identity", "device.json");
const authFile = join(state, "identity", "device-auth.json");

test("the id is the hash of the key, and signatures verify", () => {
  const { deviceId, publicKey, sign } = openIdentity(state);
  assert.equal(createHash("sha256").update(Buffer.from(publicKey, "base64url")).digest("hex"), deviceId);
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
  assert.equal(verify(null, Buffer.from("words"), key, Buffer.from(sign("words"), "base64url")), true);
  assert.deepEqual([openIdentity(state).deviceId, statSync(file).mode & 0o777], [deviceId, 0o600]);
});

test("rejects and keeps a garbled file instead of creating another device", () => {
  const good = readFileSync(file, "utf8");
  for (const bad of ["", "{", "[]", '{"publicKeyPem":"x","privateKeyPem":"y"}']) {
    writeFileSync(file, bad);
    assert.throws(() => openIdentity(state), { code: "cli.identity" }, bad);
    assert.equal(readFileSync(file, "utf8"), bad);
  }
  writeFileSync(file, good);
});

test("stores a token per gateway and returns it for no other", () => {
  const { deviceId } = openIdentity(state);
  keepDeviceToken(state, deviceId, "ws://a:1", { token: "t1", scopes: ["operator.read"] });
  keepDeviceToken(state, deviceId, "ws://b:2", { token: "t2", scopes: [] });
  assert.deepEqual(readDeviceToken(state, deviceId, "ws://a:1"), { token: "t1", scopes: ["operator.read"] });
  assert.deepEqual(readDeviceToken(state, deviceId, "ws://b:2"), { token: "t2", scopes: [] });
  assert.equal(readDeviceToken(state, deviceId, "ws://c:3"), undefined);
  assert.equal(readDeviceToken(state, "another device", "ws://a:1"), undefined);
  assert.equal(readDeviceToken(state, deviceId, "__proto__"), undefined);
  assert.equal(statSync(authFile).mode & 0o777, 0o600);
});

test("keeps what another program stored in the file", () => {
  const { deviceId } = openIdentity(state);
  const tokens = { node: { token: "n", role: "node", scopes: [], updatedAtMs: 1 } };
  writeFileSync(authFile, JSON.stringify({ version: 1, deviceId, tokens }));
  keepDeviceToken(state, deviceId, "ws://a:1", { token: "t", scopes: [] });
  assert.deepEqual((JSON.parse(readFileSync(authFile, "utf8")) as { tokens: unknown }).tokens, tokens);
});
