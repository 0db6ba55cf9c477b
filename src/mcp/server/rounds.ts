// Requests that may need answers of the client. In a session the client is asked while the request runs; without one the
// request ends with the questions, and comes again with the answers and the signed state of earlier answers.
import { OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import type { ClientQuestion } from "../../tool/tool.ts";
import { refusal, RPC, type RpcAnswer } from "../message.ts";
import { APPROVAL, approvalQuestion } from "./approval.ts";
import { createClientLink, type ClientLink } from "./client-link.ts";
import { errorText } from "./error-text.ts";
import type { MethodCall } from "./method-call.ts";
import type { RoundState } from "./request-state.ts";

export async function answerInRounds(
  call: MethodCall,
  run: (link: ClientLink, state: RoundState | undefined) => Promise<RpcAnswer>,
): Promise<RpcAnswer> {
  const { request, exchange, parts, isStateless } = call;
  const { inputResponses = {}, requestState } = call.params;
  if (isStateless && !isRecord(inputResponses)) return call.bad("inputResponses must be an object");
  const hasState = isStateless && requestState !== undefined;
  const state = hasState ? parts.states.verify(requestState, await identityOf(call)) : undefined;
  if (hasState && state === undefined)
    return call.bad("requestState is not valid or too old; make the request again without it");
  const answers = { ...state?.answers, ...(inputResponses as Record<string, unknown>) };
  const allowsSampling = parts.ports.config().gateway?.http?.endpoints?.mcp?.sampling === true;
  const link = createClientLink({ request, exchange, answers, allowsSampling, redact: parts.redact });
  try {
    return await run(link, state);
  } catch (error) {
    if (link.lacking !== undefined && isStateless) {
      const message = error instanceof OpenClawError ? errorText(error) : "the client lacks a capability";
      const data = { requiredCapabilities: link.lacking };
      return refusal(exchange.hasStream ? 200 : 400, RPC.missingCapability, message, request.id, data);
    }
    if (link.asked === undefined) throw error;
    return askAgain(call, link.asked, { answers });
  }
}

export function askApproval(call: MethodCall, id: string): Promise<RpcAnswer> {
  const approval = call.parts.ports.approvals.get(id);
  if (approval === undefined) throw new OpenClawError("approval.unknown", "the approval no longer exists");
  return askAgain(call, { [APPROVAL]: approvalQuestion(approval) }, { answers: {}, approval: id });
}

async function askAgain(
  call: MethodCall,
  inputRequests: Readonly<Record<string, ClientQuestion>>,
  state: RoundState,
): Promise<RpcAnswer> {
  const { states, redact } = call.parts;
  const requestState = states.sign(state, await identityOf(call));
  return call.done({ resultType: "input_required", inputRequests: redact(inputRequests), requestState });
}

/** What a state belongs to: another request, session or machine cannot use it. */
async function identityOf({ request: { method, params }, exchange: { caller } }: MethodCall): Promise<unknown> {
  const { subject } = await caller.subject();
  return [method, params["name"], params["arguments"] ?? {}, subject.session, subject.agent, caller.isLocal];
}
