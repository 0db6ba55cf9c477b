// An approval that a call waits for, shown to the user of the MCP client that made the call.
import { isRecord } from "../../core/record.ts";
import type { SessionKey } from "../../core/names.ts";
import type { ApprovalBroker } from "../../approval/broker.ts";
import { isClosed, isDecision, type Approval } from "../../approval/record.ts";
import type { SystemEvents } from "../../session/system-events.ts";
import type { ClientAnswer, ClientQuestion, ToolResult } from "../../tool/tool.ts";

export interface ApprovalPorts {
  readonly approvals: Pick<ApprovalBroker, "get" | "answer" | "watch" | "reachBy" | "withdraw">;
  readonly events: Pick<SystemEvents, "peek">;
}

/** The question of a result that waits for approval, if it does. */
export function approvalOf({ details }: ToolResult, { approvals }: ApprovalPorts): Approval | undefined {
  if (!isRecord(details) || details["status"] !== "approval-pending") return undefined;
  const approval = typeof details["approvalId"] === "string" ? approvals.get(details["approvalId"]) : undefined;
  return approval?.state === "pending" ? approval : undefined;
}

/** Key of the question in `inputRequests`. */
export const APPROVAL = "approval";

export function approvalQuestion({ card }: Approval): ClientQuestion {
  const rows = card.rows.map(({ label, value }) => `${label}: ${value}`);
  const choices = [
    { const: "allow-once", title: "Allow once" },
    ...(card.always === undefined ? [] : [{ const: "allow-always", title: `Always allow: ${card.always}` }]),
    { const: "deny", title: "Deny" },
  ];
  return {
    method: "elicitation/create",
    params: {
      message: [card.title, card.text, ...rows].join("\n"),
      requestedSchema: {
        type: "object",
        properties: { decision: { type: "string", title: "Decision", oneOf: choices } },
        required: ["decision"],
      },
    },
  };
}

/**
 * Resolves the approval by what the user chose and waits for the outcome. Undefined when the user closed the question
 * without an answer: then it stays open for the owner to answer elsewhere.
 */
export async function settleApproval(
  id: string,
  { action, content }: ClientAnswer,
  ports: ApprovalPorts,
  signal: AbortSignal,
): Promise<ToolResult | undefined> {
  if (action === "cancel") return undefined;
  const chosen = action === "accept" && isRecord(content) ? content["decision"] : "deny";
  const decision = typeof chosen === "string" && isDecision(chosen) ? chosen : "deny";
  await ports.approvals.answer(id, decision, { clientId: "mcp", surface: "mcp" });
  return outcomeOf(await closed(id, ports, signal), ports);
}

/** Waits until it is denied, expired or what it allowed has ended. */
export async function closed(id: string, { approvals }: ApprovalPorts, signal: AbortSignal): Promise<Approval> {
  const { promise, resolve, reject } = Promise.withResolvers<Approval>();
  const look = (): void => {
    const approval = approvals.get(id);
    if (approval === undefined) reject(new Error("the approval is gone"));
    else if (isClosed(approval)) resolve(approval);
  };
  const onAbort = (): void => reject(signal.reason as Error);
  const unwatch = approvals.watch({ resolved: look, lapsed: look, interrupted: look, finished: look });
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    look();
    return await promise;
  } finally {
    unwatch();
    signal.removeEventListener("abort", onAbort);
  }
}

export async function outcomeOf(approval: Approval, { events }: ApprovalPorts): Promise<ToolResult> {
  const { id, state, decision = "deny", reason } = approval;
  const details = { status: state, approvalId: id, decision, ...(reason === undefined ? {} : { reason }) };
  if (state !== "done") {
    const why = reason ?? (state === "expired" ? "it was not answered in time" : "the user denied it");
    return { content: [{ type: "text", text: `Not run: ${why}.` }], details, isError: true };
  }
  const text = (await noticeAbout(approval, events)) ?? `Approved and done: ${reason ?? "ended"}.`;
  return { content: [{ type: "text", text }], details };
}

/** What was run tells its session how it ended, with the end of its output. */
async function noticeAbout({ id, session }: Approval, events: ApprovalPorts["events"]): Promise<string | undefined> {
  if (session === null) return undefined;
  const waiting = await events.peek(session as SessionKey);
  return waiting.findLast(({ text }) => text.includes(`id=${id}`))?.text;
}
