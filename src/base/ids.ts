// Ids and secrets from the system's random source.
import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";

export const newId = (): string => randomUUID();

/** Hex, `bytes` long before encoding. */
export const newSecret = (bytes = 16): string => randomBytes(bytes).toString("hex");

export const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Takes the same time whatever differs, the length included: both sides are hashed first. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (word: string): Buffer => createHash("sha256").update(word, "utf8").digest();
  return timingSafeEqual(digest(given), digest(expected)) && expected !== "";
}
