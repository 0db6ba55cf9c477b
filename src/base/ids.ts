// Ids and secrets from the system's random source.
import type * as Crypto from "node:crypto";

/** Loaded on use: importing it costs 5 ms, and many commands need neither ids nor hashes. */
let loaded: typeof Crypto | undefined;
const crypto = (): typeof Crypto => (loaded ??= process.getBuiltinModule("node:crypto"));

export const newId = (): string => crypto().randomUUID();

/** Hex, `bytes` long before encoding. */
export const newSecret = (bytes = 16): string => crypto().randomBytes(bytes).toString("hex");

export const sha256 = (bytes: string | Uint8Array): string => crypto().createHash("sha256").update(bytes).digest("hex");

/** Constant time, also for different lengths: both sides are hashed first. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (word: string): Buffer => crypto().createHash("sha256").update(word, "utf8").digest();
  return crypto().timingSafeEqual(digest(given), digest(expected)) && expected !== "";
}
