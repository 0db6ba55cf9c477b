// What an answer allows: exactly the body that was asked for, for the agent and session that asked.
import type { ApprovalDecision } from "../protocol/approval.ts";
import type { Approval } from "./record.ts";

/** Who uses an approval. */
export interface GrantUser {
  readonly agent: string | null;
  readonly session: string | null;
}

export interface Grant extends GrantUser {
  readonly id: string;
  readonly kind: Approval["kind"];
  /** Null: the body is what a client sent, unchecked. */
  readonly handler: Approval["handler"];
  readonly decision: Exclude<ApprovalDecision, "deny">;
  /** Exactly as it was asked. */
  readonly body: unknown;
}

/** Undefined for another agent or session, for a denied approval, and for one that has started. */
export function grantOf(
  { id, kind, handler, state, decision, agent, session, body }: Approval,
  user: GrantUser,
): Grant | undefined {
  if (state !== "allowed" || decision === undefined || decision === "deny") return undefined;
  if (agent !== user.agent || session !== user.session) return undefined;
  return { id, kind, handler, decision, agent, session, body };
}
