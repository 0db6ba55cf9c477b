// tools/list and tools/call: the tools that policy offers to the caller, each call through src/tool/call.ts.
import { OpenClawError } from "../../core/error.ts";
import { isRecord } from "../../core/record.ts";
import type { Approval } from "../../approval/record.ts";
import type { OfferedTool } from "../../tool/catalog.ts";
import type { Subject } from "../../tool/subject.ts";
import type { Intent, ToolResult } from "../../tool/tool.ts";
import { decodeHeader, refusal, RPC, type HeaderClaims, type RpcAnswer, type RpcRequest } from "../message.ts";
import { APPROVAL, approvalOf, approvalQuestion, closed, outcomeOf, settleApproval } from "./approval.ts";
import type { ClientLink } from "./client-link.ts";
import type { Exchange } from "./exchange.ts";
import type { McpPorts } from "./ports.ts";
import type { RoundState } from "./request-state.ts";
import { errorData, errorText } from "./error-text.ts";

export function listTools(subject: Subject, { catalog }: McpPorts): object[] {
  return catalog.offered(subject).map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.params,
    ...(tool.output === undefined ? {} : { outputSchema: tool.output }),
    annotations: annotationsOf(tool, (args) => catalog.effect(subject, tool.name, args)),
  }));
}

/** What a call came to: a result, the refusal of the request, or a question about an approval that the client must answer. */
export type CallOutcome =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly answer: RpcAnswer }
  | { readonly approval: string };

export interface CallContext {
  readonly request: RpcRequest;
  readonly exchange: Exchange;
  readonly link: ClientLink;
  readonly state: RoundState | undefined;
  readonly ports: McpPorts;
}

export async function answerCall(context: CallContext): Promise<CallOutcome> {
  const { request, exchange, link, state, ports } = context;
  const { name, arguments: args } = request.params;
  if (typeof name !== "string" || name.trim() === "")
    return { answer: refusal(200, RPC.badParams, "tools/call needs a name", request.id) };
  const who = await exchange.caller.subject();
  const { tool } = ports.catalog.judge(who.subject, name.trim());
  const mismatch =
    request.revision === undefined ? undefined : paramMismatch(tool?.params, args, exchange.caller.claims);
  if (mismatch !== undefined)
    return { answer: refusal(400, RPC.headerMismatch, `header mismatch: ${mismatch}`, request.id) };
  try {
    const canApprove = mayApprove(who.turn, context);
    // Asked again: the owner may have turned approvals off since the question was sent.
    if (state?.approval !== undefined)
      return canApprove ? await answerApproval(state.approval, context) : toResult(stillPending(state.approval));
    // The user of this client can be reached about an approval, though no other client may be connected.
    const unreach = canApprove ? ports.approvals.reachBy(() => true) : () => {};
    const called = await ports
      .callTool({
        ...who,
        tool: name.trim(),
        args,
        caller: "mcp",
        signal: exchange.signal,
        client: link,
        progress: (partial) => link.progress(partial),
      })
      .finally(unreach);
    const approval = approvalOf(called, ports);
    if (approval === undefined) return toResult(called);
    link.log("notice", `Waiting for approval: ${approval.card.title}`);
    return canApprove ? await askForApproval(approval, called, context) : toResult(called);
  } catch (error) {
    const isAsked = request.revision !== undefined && (link.asked !== undefined || link.lacking !== undefined);
    if (!(error instanceof OpenClawError) || isAsked) throw error;
    const facts = errorData(error);
    // A tool this caller does not have is no tool to it; what a tool says while it works is for the model.
    if (absent.has(error.code))
      return {
        answer: refusal(200, RPC.badParams, `Tool not available: ${errorText(error)}`, request.id, facts),
      };
    const content = [{ type: "text", text: errorText(error) }];
    // Clients check structured content against the output schema, also that of a failure.
    const structured = tool?.output === undefined ? { structuredContent: facts } : {};
    return { result: { content, ...structured, isError: true } };
  }
}

const absent: ReadonlySet<string> = new Set(["tool.refused", "tool.unknown", "tool.unavailable"]);

/**
 * Only a person at this machine may be asked, and only about a call of their own client: a call that belongs to a run was
 * made by a model, and its approval waits for the owner elsewhere.
 */
function mayApprove(turn: string | undefined, { exchange, link, ports }: CallContext): boolean {
  const isOn = ports.config().gateway?.http?.endpoints?.mcp?.approvals !== false;
  return isOn && turn === undefined && exchange.caller.isLocal && link.can("elicitation/create");
}

async function askForApproval(approval: Approval, called: ToolResult, context: CallContext): Promise<CallOutcome> {
  const { exchange, link, ports, request } = context;
  if (request.revision !== undefined) return { approval: approval.id };
  // The owner may answer in the page or a chat first; then the question here is withdrawn.
  const over = new AbortController();
  const signal = AbortSignal.any([exchange.signal, over.signal]);
  const asked = link.ask({ [APPROVAL]: approvalQuestion(approval) }, signal);
  const answered = closed(approval.id, ports, signal);
  try {
    const first = await Promise.race([
      asked.then((answers) => ({ answer: answers[APPROVAL] ?? {} })),
      answered.then((done) => ({ done })),
    ]);
    if ("done" in first) return toResult(await outcomeOf(first.done, ports));
    return toResult((await settleApproval(approval.id, first.answer, ports, exchange.signal)) ?? called);
  } catch (error) {
    // What its caller no longer wants must not run later.
    if (exchange.signal.aborted) await ports.approvals.withdraw(approval.id, "the client canceled the call");
    throw error;
  } finally {
    over.abort();
    // Whichever lost ends with a rejection that no longer matters.
    await Promise.allSettled([asked, answered]);
  }
}

async function answerApproval(id: string, { request, exchange, ports }: CallContext): Promise<CallOutcome> {
  const responses = request.params["inputResponses"];
  const answer = isRecord(responses) ? responses[APPROVAL] : undefined;
  if (!isRecord(answer)) return { approval: id };
  const settled = await settleApproval(id, answer, ports, exchange.signal);
  return toResult(settled ?? stillPending(id));
}

function stillPending(id: string): ToolResult {
  const text = `Approval ${id.slice(0, 8)} is still pending; the owner can answer it elsewhere.`;
  return { content: [{ type: "text", text }], details: { status: "approval-pending", approvalId: id } };
}

function toResult({ content, attachments = [], details, isError }: ToolResult): CallOutcome {
  return {
    result: {
      content: [...content, ...attachments],
      ...(isRecord(details) ? { structuredContent: details } : {}),
      ...(isError === true ? { isError } : {}),
    },
  };
}

/** A schema can name a header that repeats an argument (`x-mcp-header`); both must say the same. */
function paramMismatch(params: unknown, args: unknown, claims: HeaderClaims): string | undefined {
  const properties = isRecord(params) && isRecord(params["properties"]) ? params["properties"] : {};
  const given = isRecord(args) ? args : {};
  for (const [key, property] of Object.entries(properties)) {
    const header = isRecord(property) ? property["x-mcp-header"] : undefined;
    if (typeof header !== "string") continue;
    const name = `Mcp-Param-${header}`;
    const claimed = claims.param?.(header);
    const value = given[key];
    if (value === undefined || value === null) {
      if (claimed !== undefined) return `${name} is there, but params.arguments.${key} is not`;
    } else if (claimed === undefined) return `${name} is missing`;
    else if (decodeHeader(claimed) !== (typeof value === "string" ? value : JSON.stringify(value)))
      return `${name} is not params.arguments.${key}`;
  }
  return undefined;
}

const looks: ReadonlySet<unknown> = new Set<Intent["does"]>(["look", "read", "fetch"]);
const harms: ReadonlySet<unknown> = new Set<Intent["does"] | undefined>(["write", "run", "admin", undefined]);
const reaches: ReadonlySet<unknown> = new Set<Intent["does"] | undefined>(["fetch", "send", "run", undefined]);

/** Derived from the effects of its actions; an unknown effect counts as destructive. */
function annotationsOf(
  { summary, params }: OfferedTool,
  effect: (args: Record<string, unknown>) => Intent["does"] | undefined,
): Record<string, unknown> {
  const verbs = verbsOf(params);
  const effects = verbs.length === 0 ? [effect({})] : verbs.map((action) => effect({ action }));
  return {
    title: summary,
    readOnlyHint: effects.every((does) => looks.has(does)),
    destructiveHint: effects.some((does) => harms.has(does)),
    openWorldHint: effects.some((does) => reaches.has(does)),
  };
}

function verbsOf(params: unknown): string[] {
  const properties = isRecord(params) ? params["properties"] : undefined;
  const action = isRecord(properties) ? properties["action"] : undefined;
  if (!isRecord(action)) return [];
  const words = Array.isArray(action["enum"])
    ? action["enum"]
    : Array.isArray(action["anyOf"])
      ? action["anyOf"].map((one: unknown) => (isRecord(one) ? one["const"] : undefined))
      : [];
  return words.filter((word) => typeof word === "string");
}
