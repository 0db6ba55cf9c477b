// /approve: answers a waiting approval, or lists them.
import { OpenClawError } from "../../core/error.ts";
import { visible } from "../../core/visible.ts";
import type { Approval } from "../../approval/record.ts";
import type { ApprovalDecision } from "../../protocol/approval.ts";
import { approvalText } from "../approval-text.ts";
import type { CommandContext } from "../../agent/direct.ts";
import { answered, type Command, type CommandRun } from "../command-run.ts";

const decisions: ReadonlyMap<string, ApprovalDecision> = new Map([
  ["allow-once", "allow-once"],
  ["once", "allow-once"],
  ["allow", "allow-once"],
  ["yes", "allow-once"],
  ["allow-always", "allow-always"],
  ["always", "allow-always"],
  ["deny", "deny"],
  ["reject", "deny"],
  ["no", "deny"],
]);

const decisionText: Readonly<Record<ApprovalDecision, string>> = {
  "allow-once": "allowed once",
  "allow-always": "always allowed",
  deny: "denied",
};

const usage = "Usage: /approve <id> allow-once|allow-always|deny";

export const approve: Command = {
  name: "approve",
  takes: "<id> allow-once|allow-always|deny",
  summary: "Answer a waiting approval, or list them",
  async answer(args, commandRun) {
    const { context, deps } = commandRun;
    if (context.approver === undefined || deps.approvals === undefined) throw notApprover();
    const waiting = deps.approvals.pending().filter((approval) => mayAnswer(approval, context));
    const [id = "", word = "", ...more] = args.trim().split(/\s+/);
    if (id === "") return answered(listed(waiting, commandRun));
    const decision = decisions.get(word.toLowerCase());
    if (decision === undefined || more.length > 0) return answered(`${usage}. ${countOf(waiting)}`);
    // A sender who may not answer gets the same error as for an unknown id.
    if (!waiting.some((approval) => approval.id.toLowerCase().startsWith(id.toLowerCase()))) throw unknown(id);
    const done = await deps.approvals.answer(id, decision, context.approver);
    const slug = done.id.slice(0, 8);
    if (done.state === "denied" && decision !== "deny")
      return answered(
        `Approval ${slug}: not run, because the current rules do not allow it: ${done.reason ?? "denied"}`,
      );
    return answered(`Approval ${slug}: ${decisionText[decision]}.`);
  },
};

/** A sender in a chat channel answers for the agent of that chat; an operator's client answers for all. */
function mayAnswer({ agent }: Approval, { approver, agentId }: CommandContext): boolean {
  return approver !== undefined && (approver.sender === undefined || agent === agentId);
}

function listed(waiting: readonly Approval[], { deps: { clock } }: CommandRun): string {
  const now = clock.now();
  const texts = waiting.map(
    (approval) =>
      approvalText(approval, now) ??
      `Approval ${approval.id}: too long for a message. Answer it on the page, or with: openclaw approvals pending`,
  );
  return texts.length === 0 ? "No approval is waiting." : texts.join("\n\n");
}

function countOf({ length }: readonly Approval[]): string {
  if (length === 0) return "No approval is waiting.";
  return length === 1
    ? "One approval is waiting: /approve shows it."
    : `${length} approvals are waiting: /approve shows them.`;
}

function unknown(id: string): OpenClawError {
  return new OpenClawError("approval.unknown", `No approval "${visible(id, 80)}" is waiting; nothing was approved.`);
}

function notApprover(): OpenClawError {
  return new OpenClawError("approval.not-approver", "You may not answer approvals here; nothing was approved.", {
    hint: "answer on the page, or with openclaw approvals resolve",
  });
}
