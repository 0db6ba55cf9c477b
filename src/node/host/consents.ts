// Remembers what was frozen for approval and which approvals were used: each is valid once
// (docs/decisions/0014-approvals-freeze-a-plan.md).
import { OpenClawError } from "../../core/error.ts";
import { changedSince, planHash } from "../../exec/policy/freeze.ts";
import type { Plan } from "../../exec/policy/plan.ts";

export interface Consents {
  freeze(runId: string, plan: Plan): void;
  /**
   * Throws `approval.changed` when the plan differs from the hash in the approval, or else from the one frozen here.
   */
  compare(runId: string, plan: Plan, mark?: string): void;
  /** Throws when that approval was already used. */
  spend(approvalId: string): void;
}

/** Older entries beyond this number have expired, since questions live for minutes. */
const MAX_KEPT = 1000;

export function createConsents(): Consents {
  const frozen = new Map<string, string>();
  const spent = new Set<string>();
  return {
    freeze(runId, plan) {
      // The first plan is the one people saw; a later request with the same id must not replace it.
      if (frozen.has(runId)) return;
      frozen.set(runId, planHash(plan));
      dropOldest(frozen);
    },
    compare(runId, plan, mark) {
      const then = mark ?? frozen.get(runId);
      frozen.delete(runId);
      if (then !== undefined && then !== planHash(plan)) throw changed();
    },
    spend(approvalId) {
      if (spent.has(approvalId))
        throw new OpenClawError("node-host.denied", "SYSTEM_RUN_DENIED: this approval was already used");
      spent.add(approvalId);
      dropOldest(spent);
    },
  };
}

function changed(): OpenClawError {
  const { code, message } = changedSince("what the command would start");
  return new OpenClawError(code, `SYSTEM_RUN_DENIED: ${message}`);
}

function dropOldest(kept: Map<string, string> | Set<string>): void {
  const oldest = kept.size > MAX_KEPT ? kept.keys().next() : undefined;
  if (oldest !== undefined && !oldest.done) kept.delete(oldest.value);
}
