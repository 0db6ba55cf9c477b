// Answers kept for a while, bounded in number and in characters.
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";

const MAX_ENTRIES = 100;
const MAX_ENTRY_CHARS = 200_000;

export interface TimedCache<V> {
  get(key: string): V | undefined;
  /** Kept for `ttlMs`; 0 keeps nothing. `chars` is how long the value is. */
  set(key: string, value: V, ttlMs: number, chars: number): void;
}

/** Twenty million characters at most. */
export function createTimedCache<V>(clock: Pick<Clock, "ticks">): TimedCache<V> {
  const entries = new Lru<{ readonly value: V; readonly until: number }>(MAX_ENTRIES);
  return {
    get(key) {
      const found = entries.get(key);
      if (found === undefined || found.until > clock.ticks()) return found?.value;
      entries.delete(key);
      return undefined;
    },
    set(key, value, ttlMs, chars) {
      if (ttlMs > 0 && chars <= MAX_ENTRY_CHARS) entries.set(key, { value, until: clock.ticks() + ttlMs });
    },
  };
}
