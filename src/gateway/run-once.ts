// Runs a request with an idempotency key once: a repeated request gets the first result.
import type { Clock } from "../base/clock.ts";
import type { OpenClawError } from "../core/error.ts";
import type { Store } from "../store/store.ts";

const DEDUPE_MS = 5 * 60_000;

/** Throws `inFlight` while the first request runs, and after it failed: a retry after a failure needs a new key. */
export async function runOnce<T>(
  { store, clock }: { readonly store: Pick<Store, "dedupe">; readonly clock: Clock },
  scope: string,
  key: string,
  work: () => Promise<T>,
  inFlight: () => OpenClawError,
): Promise<T> {
  const claim = await store.dedupe.claim(scope, key, clock.now() + DEDUPE_MS);
  if (claim.fresh) {
    const result = await work();
    await store.dedupe.settle(scope, key, result);
    return result;
  }
  if (claim.result !== undefined) return claim.result as T;
  throw inFlight();
}
