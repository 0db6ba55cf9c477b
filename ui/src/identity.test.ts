import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import { test } from "node:test";

import { signedText } from "../../src/protocol/signature.ts";
import { keyProblemOf, openIdentity, type KeyStore } from "./identity.ts";

function createKeyStore(): KeyStore {
  let stored: CryptoKeyPair | undefined;
  return {
    get: () => Promise.resolve(stored),
    put: (pair) => Promise.resolve((stored ??= pair)),
  };
}

const facts = {
  clientId: "openclaw-control-ui",
  clientMode: "webchat",
  role: "operator",
  scopes: ["operator.admin", "operator.pairing"],
  signedAt: 1_794_767_966_523,
  token: "t0ken",
  nonce: "n-1",
};

test("the device id is the hash of the public key, and the signature verifies", async () => {
  const identity = await openIdentity(createKeyStore());
  const raw = Buffer.from(identity.publicKey, "base64url");
  assert.equal(raw.length, 32);
  assert.equal(identity.deviceId, createHash("sha256").update(raw).digest("hex"));
  const signature = Buffer.from(await identity.sign(facts), "base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: identity.publicKey }, format: "jwk" });
  const text = signedText({ ...facts, deviceId: identity.deviceId });
  assert.ok(verify(null, Buffer.from(text), key, signature));
  assert.equal(
    text,
    `v2|${identity.deviceId}|openclaw-control-ui|webchat|operator|operator.admin,operator.pairing|1794767966523|t0ken|n-1`,
  );
});

test("the same key store gives the same device, and its private key cannot be exported", async () => {
  const storage = createKeyStore();
  const [first, second] = [await openIdentity(storage), await openIdentity(storage)];
  assert.equal(first.deviceId, second.deviceId);
  const pair = await storage.get();
  assert.ok(pair !== undefined);
  await assert.rejects(crypto.subtle.exportKey("pkcs8", pair.privateKey), { name: "InvalidAccessError" });
});

test("two tabs that start at once use the same key", async () => {
  const storage = createKeyStore();
  const blind: KeyStore = { get: () => Promise.resolve(undefined), put: (pair) => storage.put(pair) };
  const [one, other] = await Promise.all([openIdentity(blind), openIdentity(blind)]);
  assert.equal(one.deviceId, other.deviceId);
});

test("explains why a page over plain http has no key", () => {
  assert.equal(keyProblemOf({ isSecureContext: true }), undefined);
  assert.match(keyProblemOf({ isSecureContext: false }) ?? "", /https or an SSH tunnel/);
});
