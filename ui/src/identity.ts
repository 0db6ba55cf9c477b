// The key pair of this browser: created once, not readable by scripts, used to sign each connect.
import { signedText, type SignedFacts } from "../../src/protocol/signature.ts";

export interface Identity {
  /** Lower-case hex SHA-256 of the raw public key. */
  readonly deviceId: string;
  readonly publicKey: string;
  sign(facts: Omit<SignedFacts, "deviceId">): Promise<string>;
}

/** Stores one key pair. `put` must return the pair that was stored first when two tabs race. */
export interface KeyStore {
  get(): Promise<CryptoKeyPair | undefined>;
  put(pair: CryptoKeyPair): Promise<CryptoKeyPair>;
}

export async function openIdentity(storage: KeyStore): Promise<Identity> {
  const pair = (await storage.get()) ?? (await storage.put(await createPair()));
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const deviceId = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", raw)));
  return {
    deviceId,
    publicKey: toBase64Url(raw),
    async sign(facts) {
      const bytes = new TextEncoder().encode(signedText({ ...facts, deviceId }));
      return toBase64Url(new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, bytes)));
    },
  };
}

/** Browsers offer Web Crypto only to pages from https or from the same machine. */
export function keyProblemOf(scope: { readonly isSecureContext: boolean }): string | undefined {
  if (scope.isSecureContext) return undefined;
  return "This page was loaded over plain http from another machine, and browsers store no device keys for such pages. Open it through https or an SSH tunnel.";
}

async function createPair(): Promise<CryptoKeyPair> {
  const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new TypeError("the browser made no key pair");
  return pair;
}

export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
