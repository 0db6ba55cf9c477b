// Slows down guessing: after too many wrong secrets from one address, that address waits. Bounded memory.
import type { Clock } from "../base/clock.ts";
import { Lru } from "../base/lru.ts";

const WINDOW_MS = 60_000;
const LOCK_MS = 5 * 60_000;
const MAX_FAILURES = 10;

export interface Throttle {
  /** Milliseconds until this address may try again; 0 when it may. */
  waitMs(address: string): number;
  failed(address: string): void;
  succeeded(address: string): void;
}

export function createThrottle(clock: Clock): Throttle {
  const buckets = new Lru<{ since: number; failures: number; lockedUntil: number }>(10_000);
  return {
    waitMs: (address) => Math.max(0, (buckets.get(address)?.lockedUntil ?? 0) - clock.ticks()),
    failed(address) {
      const now = clock.ticks();
      const known = buckets.get(address);
      const fresh = known === undefined || now - known.since > WINDOW_MS;
      const failures = fresh ? 1 : known.failures + 1;
      buckets.set(address, {
        since: fresh ? now : known.since,
        failures,
        lockedUntil: failures >= MAX_FAILURES ? now + LOCK_MS : 0,
      });
    },
    succeeded: (address) => buckets.delete(address),
  };
}
