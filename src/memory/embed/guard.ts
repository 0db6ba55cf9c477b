// Remembers how an embedder fares: while it keeps failing, queries do not wait for it and a fall-back may step in.
import type { Clock } from "../../base/clock.ts";
import { EmbedError, type Embedder } from "./embedder.ts";
import { mayPass } from "./request.ts";

export interface Guarded {
  readonly embedder: Embedder;
  /** Why it should not be asked now; undefined when it works, or when it is time to try again. */
  failing(): string | undefined;
}

/** One lost connection means little; three in a row, or a refused key, mean that it is down. */
const patience = 3;
const firstRestMs = 15_000;
const longestRestMs = 10 * 60_000;

export function guarded(inner: Embedder, clock: Clock): Guarded {
  let failures = 0;
  let restUntil = -Infinity;
  let last: EmbedError | undefined;

  const isResting = (): boolean => clock.ticks() < restUntil;
  const note = (error: unknown): void => {
    if (!(error instanceof EmbedError) || error.fault === "aborted") return;
    last = error;
    // A request that was refused may be the fault of one text; the next one that works takes it back.
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
