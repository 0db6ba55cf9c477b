// Sends approval events to clients that can approve, and tells the broker whether one is connected.
import { toRequested, toResolved } from "../approval/record.ts";
import type { ApprovalBroker } from "../approval/broker.ts";
import { holdsScope } from "../protocol/scope.ts";
import type { Client } from "./client.ts";
import type { Hub } from "./hub.ts";

const needs = "operator.approvals";

/** Returns a function that stops it. */
export function announceApprovals(hub: Hub, broker: ApprovalBroker): () => void {
  const quiet = broker.watch({
    requested: (approval) => hub.broadcast("exec.approval.requested", toRequested(approval), { needs }),
    resolved(approval) {
      // Clients know the expiry time, so no event is sent for it, as recorded.
      if (approval.state === "expired") return;
      hub.broadcast("exec.approval.resolved", toResolved(approval), { needs });
    },
  });
  const unreachable = broker.reachBy(() => [...hub.clients].some(mayApprove));
  return () => {
    quiet();
    unreachable();
  };
}

export function mayApprove({ role, scopes }: Pick<Client, "role" | "scopes">): boolean {
  return role === "operator" && holdsScope(scopes, needs);
}
