// This machine's device key and the tokens that gateways issued to it, in the state folder, in the recorded shapes.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { errnoOf, OpenClawError } from "../core/error.ts";
import type { Signer } from "../protocol/connect-request.ts";
import { writeFileAtomic } from "../base/atomic-file.ts";
import { systemClock } from "../base/clock.ts";

interface IdentityFile {
  readonly version: 1;
  readonly deviceId: string;
  readonly publicKeyPem: string;
  readonly privateKeyPem: string;
  readonly createdAtMs: number;
}

/** Created on first use. An unreadable file is an error: a new key would silently be another device. */
export function openIdentity(state: string): Signer {
  const path = join(state, "identity", "device.json");
  const { deviceId, publicKeyPem, privateKeyPem } = readIdentity(path) ?? createIdentity(path);
  const key = createPrivateKey(privateKeyPem);
  return {
    deviceId,
    publicKey: rawKey(publicKeyPem).toString("base64url"),
    sign: (text) => sign(null, Buffer.from(text, "utf8"), key).toString("base64url"),
  };
}

function readIdentity(path: string): IdentityFile | undefined {
  const stored = readJson(path);
  if (stored === undefined) return undefined;
  const { publicKeyPem, privateKeyPem, createdAtMs } = stored;
  if (typeof publicKeyPem !== "string" || typeof privateKeyPem !== "string") throw unreadable(path);
  try {
    const deviceId = createHash("sha256").update(rawKey(publicKeyPem)).digest("hex");
    return { version: 1, deviceId, publicKeyPem, privateKeyPem, createdAtMs: Number(createdAtMs) };
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function createIdentity(path: string): IdentityFile {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519", {
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const deviceId = createHash("sha256").update(rawKey(publicKey)).digest("hex");
  const made: IdentityFile = {
    version: 1,
    deviceId,
    publicKeyPem: publicKey,
    privateKeyPem: privateKey,
    createdAtMs: systemClock.now(),
  };
  writeFileAtomic(path, `${JSON.stringify(made, null, 2)}\n`);
  return made;
}

/** The last 32 bytes of the SPKI form are the key itself. */
function rawKey(publicKeyPem: string): Buffer {
  return createPublicKey(publicKeyPem).export({ type: "spki", format: "der" }).subarray(-32);
}

/** Tokens by role and gateway. The recorded file has one gateway; ours are under `gateways`, so that each gets only its own. */
interface AuthFile {
  readonly version?: unknown;
  readonly deviceId?: unknown;
  readonly tokens?: unknown;
  readonly gateways?: unknown;
}

export interface KeptToken {
  readonly token: string;
  readonly scopes: readonly string[];
}

const authFileOf = (state: string): string => join(state, "identity", "device-auth.json");

/** The token that this gateway issued to this device, if any. */
export function readDeviceToken(state: string, deviceId: string, url: string): KeptToken | undefined {
  const stored = readJson(authFileOf(state)) as AuthFile | undefined;
  if (stored === undefined || stored.deviceId !== deviceId) return undefined;
  const entry = pick(pick(stored.gateways, url), "operator");
  const token = pick(entry, "token");
  const scopes = pick(entry, "scopes");
  if (typeof token !== "string") return undefined;
  return { token, scopes: Array.isArray(scopes) ? scopes.filter((scope) => typeof scope === "string") : [] };
}

/** `undefined` deletes it. */
export function keepDeviceToken(state: string, deviceId: string, url: string, kept: KeptToken | undefined): void {
  const path = authFileOf(state);
  const stored = (readJson(path) ?? {}) as AuthFile;
  const before =
    stored.deviceId === deviceId && typeof stored.gateways === "object"
      ? (stored.gateways as Record<string, unknown>)
      : {};
  const { [url]: _old, ...others } = before;
  const entry =
    kept === undefined ? {} : { [url]: { operator: { ...kept, role: "operator", updatedAtMs: systemClock.now() } } };
  const tokens = stored.deviceId === deviceId ? (stored.tokens ?? {}) : {};
  writeFileAtomic(
    path,
    `${JSON.stringify({ version: 1, deviceId, tokens, gateways: { ...others, ...entry } }, null, 2)}\n`,
  );
}

function pick(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function readJson(path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw unreadable(path);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT" || errnoOf(cause) === "ENOTDIR") return undefined;
    throw cause instanceof OpenClawError ? cause : unreadable(path, cause);
  }
}

function unreadable(path: string, cause?: unknown): OpenClawError {
  return new OpenClawError("cli.identity", `the device identity ${path} cannot be read`, {
    cause,
    hint: `move it away (mv ${path} ${path}.old); a new one is created, which must be paired again`,
  });
}
