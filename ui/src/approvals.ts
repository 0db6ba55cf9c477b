// Follows pending approvals: events, a full read after a connect or a gap, and expiry.
import { OpenClawError } from "../../src/core/error.ts";
import type { ApprovalRequested, ApprovalResolved } from "../../src/protocol/approval.ts";
import type { Client } from "./client.ts";
import type { PageState, PendingApproval, Store } from "./state.ts";

/** Returns the function that unsubscribes. */
export function followApprovals(client: Pick<Client, "on" | "request">, store: Store<PageState>): () => void {
  let epoch = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const show = (approvals: readonly PendingApproval[]): void => {
    const now = Date.now();
    const left = approvals.filter(({ endsAtMs }) => endsAtMs > now);
    clearTimeout(timer);
    const soonest = Math.min(...left.map(({ endsAtMs }) => endsAtMs));
    if (left.length > 0) timer = setTimeout(() => show(store.value.approvals), soonest - now);
    store.update({ approvals: left });
  };

  const read = async (): Promise<void> => {
    try {
      const { now, pending } = await client.request("exec.approvals.pending", {});
      const offsetMs = Date.now() - now;
      show(pending.map((entry) => ({ ...entry, endsAtMs: entry.expiresAtMs + offsetMs })));
    } catch (error) {
      if (!(error instanceof OpenClawError)) throw error; // disconnected again, or this client may not see approvals
      show([]);
    }
  };

  const unsubscribers = [
    client.on("exec.approval.requested", (payload) => {
      const entry = payload as ApprovalRequested;
      const others = store.value.approvals.filter(({ id }) => id !== entry.id);
      show([...others, { ...entry, endsAtMs: Date.now() + entry.expiresAtMs - entry.createdAtMs }]);
    }),
    client.on("exec.approval.resolved", (payload) => dropApproval(store, (payload as ApprovalResolved).id)),
    client.on("page.gap", () => void read()),
    store.subscribe(() => {
      if (store.value.epoch === epoch) return;
      epoch = store.value.epoch;
      void read();
    }),
  ];
  return () => {
    clearTimeout(timer);
    for (const end of unsubscribers) end();
  };
}

export function dropApproval(store: Store<PageState>, id: string): void {
  const approvals = store.value.approvals.filter((entry) => entry.id !== id);
  if (approvals.length !== store.value.approvals.length) store.update({ approvals });
}
