// What people were asked about, as it was then, and which answers were used: a yes is for that, and for once (ruling 14).
import { OpenClawError } from "../../core/error.ts";
import { changedSince, planHash } from "../../exec/policy/freeze.ts";
import type { Plan } from "../../exec/policy/plan.ts";

export interface Consents {
  freeze(runId: string, plan: Plan): void;
  /** Throws `approval.changed` when it is not what it was: by the mark that came back with the yes, else as asked here. */
  compare(runId: string, plan: Plan, mark?: string): void;
  /** Throws when that answer was used before. */
  spend(approvalId: string): void;
}

/** The oldest beyond this are long over: questions live for minutes. */
const MAX_KEPT = 1000;

export function createConsents(): Consents {
  const frozen = new Map<string, string>();
  const spent = new Set<string>();
  return {
    freeze(runId, plan) {
      // The first one is what the person was told of: a second request of the same name must not take its place.
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
        throw new OpenClawError("node-host.denied", "SYSTEM_RUN_DENIED: this approval was used already");
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
