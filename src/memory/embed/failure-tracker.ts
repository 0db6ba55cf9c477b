// Tracks the failures of an embedder: while it keeps failing, queries do not wait for it and a fallback may be used.
import type { Clock } from "../../base/clock.ts";
import { EmbedError, type Embedder } from "./embedder.ts";
import { mayPass } from "./request.ts";

export interface TrackedEmbedder {
  readonly embedder: Embedder;
  /** Why it should not be used now; undefined when it works, or when it is time to try again. */
  failing(): string | undefined;
}

/** One lost connection means little; three in a row, or a rejected key, mean that it is down. */
const patience = 3;
const firstRestMs = 15_000;
const longestRestMs = 10 * 60_000;

export function trackFailures(inner: Embedder, clock: Clock): TrackedEmbedder {
  let failures = 0;
  let restUntil = -Infinity;
  let last: EmbedError | undefined;

  const isResting = (): boolean => clock.ticks() < restUntil;
  const note = (error: unknown): void => {
    if (!(error instanceof EmbedError) || error.fault === "aborted") return;
    last = error;
    // A rejected request may be caused by one text; the next success clears it.
    failures += mayPass(error) || error.fault === "invalid" || error.fault === "garbled" ? 1 : patience;
    if (failures < patience) return;
    const restMs = Math.min(longestRestMs, firstRestMs * 2 ** Math.floor((failures - patience) / patience));
    restUntil = clock.ticks() + restMs;
  };
  return {
    failing: () => (isResting() ? last?.message : undefined),
    embedder: {
      ...inner,
      async embed(texts, kind, signal) {
        if (kind === "query" && last !== undefined && isResting()) throw last;
        try {
          const vectors = await inner.embed(texts, kind, signal);
          failures = 0;
          restUntil = -Infinity;
          return vectors;
        } catch (error) {
          note(error);
          throw error;
        }
      },
    },
  };
}
