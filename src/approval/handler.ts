// What a part of the gateway registers to ask for approvals: the card, the recheck, and what happens after the answer.
import type { ApprovalCard, ApprovalKind } from "../protocol/approval.ts";
import type { Approval, HandlerName } from "./record.ts";

/** `Subject` is what the card is about, as the part that asks knows it. */
export interface ApprovalHandler<Subject = never> {
  /** Stored with each approval, so that the next process finds its handler again. */
  readonly name: HandlerName;
  /** The kind that clients are shown. */
  readonly kind: ApprovalKind;
  /** Whether "allow-always" is a possible answer. */
  readonly canAllowAlways: boolean;
  card(subject: Subject): ApprovalCard;
  /** Called at the answer and again before the start. Throws OpenClawError when the rules in force do not allow it. */
  recheck(approval: Approval): Promise<void>;
  /** Does what was allowed. Called at most once for an approval, when its start is durable. Resolves with the outcome. */
  run(approval: Approval): Promise<string>;
  /** It does not run: it was denied, expired or withdrawn, or was allowed and did not start. */
  denied(approval: Approval): Promise<void>;
  /** The process ended while it ran. It is not run again. */
  interrupted(approval: Approval): Promise<void>;
}
