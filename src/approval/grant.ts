// What an answer allows, and to whom: exactly the body that was asked for, for the agent and session that asked.
import type { ApprovalDecision } from "../protocol/approval.ts";
import type { Approval } from "./record.ts";

/** Who wants to use an approval. */
export interface User {
  readonly agent: string | null;
  readonly session: string | null;
}

export interface Grant extends User {
  readonly id: string;
  readonly kind: Approval["kind"];
  /** Only `house` means that the gateway made the plan in `body`; of `wire` it is a client's own words. */
  readonly origin: Approval["origin"];
  readonly decision: Exclude<ApprovalDecision, "deny">;
  /** As it was asked, to the character. */
  readonly body: unknown;
}

/** Nothing for another agent or session, for anything but a yes, or once it was begun. */
export function grantOf(
  { id, kind, origin, state, decision, agent, session, body }: Approval,
  user: User,
): Grant | undefined {
  if (state !== "allowed" || decision === undefined || decision === "deny") return undefined;
  if (agent !== user.agent || session !== user.session) return undefined;
  return { id, kind, origin, decision, agent, session, body };
}
