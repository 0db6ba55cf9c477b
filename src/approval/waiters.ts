// Who waits for the end of an approval.
import type { Approval } from "./record.ts";

export interface Waiters {
  /** Rejects with the signal's reason; that ends the wait, not the approval. */
  wait(id: string, signal: AbortSignal | undefined): Promise<Approval>;
  settle(approval: Approval): void;
  /** Ends every wait with this error. */
  close(error: Error): void;
}

type Waiter = PromiseWithResolvers<Approval>;

export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<Waiter>>();
  return {
    async wait(id, signal) {
      signal?.throwIfAborted();
      const waiter: Waiter = Promise.withResolvers();
      const mine = waiting.get(id) ?? new Set();
      waiting.set(id, mine.add(waiter));
      const onAbort = (): void => waiter.reject(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      try {
        return await waiter.promise;
      } finally {
        signal?.removeEventListener("abort", onAbort);
        mine.delete(waiter);
        if (mine.size === 0) waiting.delete(id);
      }
    },
    settle(approval) {
      for (const waiter of waiting.get(approval.id) ?? []) waiter.resolve(approval);
    },
    close(error) {
      for (const waiter of [...waiting.values()].flatMap((set) => [...set])) waiter.reject(error);
      waiting.clear();
    },
  };
}
