// Callers that wait for the answer to an approval.
import type { Approval } from "./record.ts";

export interface Waiters {
  /** Rejects with the signal's reason, which ends the wait and not the approval. */
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
      const others = waiting.get(id) ?? new Set();
      waiting.set(id, others.add(waiter));
      const onAbort = (): void => waiter.reject(signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      try {
        return await waiter.promise;
      } finally {
        signal?.removeEventListener("abort", onAbort);
        others.delete(waiter);
        if (others.size === 0) waiting.delete(id);
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
