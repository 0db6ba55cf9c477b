// Shared by the two OpenAI-compatible endpoints: agent and session of a request, its run, failures as HTTP errors.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import type { RunEvent, RunOutcome } from "../../core/event.ts";
import type { Block, Message } from "../../core/message.ts";
import { isRecord } from "../../core/record.ts";
import { newId, sha256 } from "../../base/ids.ts";
import type { Agents } from "../../agent/agent.ts";
import type { ModelBook, ModelRef } from "../../model/model.ts";
import type { TurnRequest } from "../../session/turns.ts";
import { subjectOf, type Subject } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { goneSignal, readBody, sendError, sendJson } from "./answer.ts";
import type { Content } from "./openai-content.ts";
import { modelNamed } from "./model-names.ts";
import { optionalText, refuse, type Body, type ChosenTools } from "./openai-request.ts";

export interface OpenAIDeps {
  readonly context: GatewayContext;
  readonly agents: Agents;
  readonly models: ModelBook;
}

/** The parsed body, or undefined when an error response has been sent. */
export async function readJson(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Record<string, unknown> | undefined> {
  try {
    const bytes = await readBody(request, maxBytes);
    const value = parseStrict(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    sendError(response, 400, "invalid_request_error", "the body must be a JSON object");
  } catch (error) {
    const tooLarge = error instanceof OpenClawError && error.code === "http.too-large";
    if (tooLarge) response.setHeader("connection", "close");
    const message = error instanceof Error ? error.message : String(error);
    sendError(
      response,
      tooLarge ? 413 : 400,
      "invalid_request_error",
      tooLarge ? message : `the body is not JSON: ${message}`,
    );
  }
  return undefined;
}

export interface Target {
  readonly subject: Subject;
  /** The caller named the session, by key or by user, and may use it again. */
  readonly isNamed: boolean;
  readonly model?: ModelRef;
}

/** Agent or model by `model`, agent by header, session by header or by `user`; without either, a new session. */
export async function turnTarget(
  { headers }: IncomingMessage,
  body: Body,
  { context, models }: OpenAIDeps,
): Promise<Target> {
  const config = context.config();
  const [name, user] = [optionalText(body, "model"), optionalText(body, "user")];
  const named = /^(?:openclaw|agent)[:/](.+)$/i.exec(name ?? "")?.[1];
  const isModel = name !== undefined && name !== "" && named === undefined && !/^openclaw$/i.test(name);
  const model = isModel ? { model: await modelNamed(name, config, models) } : {};
  const explicit = headers["x-openclaw-session-key"];
  if (typeof explicit === "string" && explicit !== "")
    return { subject: subjectOf({ sessionKey: explicit }, config), isNamed: true, ...model };
  const header = headers["x-openclaw-agent-id"];
  const agentId = named ?? (typeof header === "string" && header !== "" ? header : undefined);
  const { agent } = subjectOf({ agentId }, config);
  const isNamed = user !== undefined && user !== "";
  // The caller chooses the user name; a digest makes it safe as part of a key.
  const rest = isNamed ? `openai-user:${sha256(user).slice(0, 24)}` : `openai:${newId()}`;
  return { subject: subjectOf({ sessionKey: `agent:${agent}:${rest}` }, config), isNamed, ...model };
}

/** One message of the conversation in a request. */
export type InputMessage = { readonly role: "user"; readonly content: Content } | Exclude<Message, { role: "user" }>;

/** The turn is the last user message, or results of tools that the caller ran; what comes before is its history. */
export function turnInput(conversation: readonly InputMessage[], param: string, now: number): TurnInput {
  const last = conversation.at(-1);
  if (last === undefined || last.role === "assistant")
    return refuse(param, "must end with a message of the user or with tool results");
  const history = conversation.slice(0, last.role === "user" ? -1 : undefined).map((one) => toMessage(one, now));
  const brought = history.length === 0 ? {} : { history };
  if (last.role === "toolResult") return { text: "", ...brought };
  const { text, images, files } = last.content;
  if (text.trim() === "" && images.length === 0 && files.length === 0)
    return refuse(param, "the last message of the user is empty");
  return {
    text,
    ...brought,
    ...(images.length === 0 ? {} : { images }),
    ...(files.length === 0 ? {} : { attachments: files }),
  };
}

type TurnInput = Pick<TurnRequest, "text" | "images" | "attachments" | "history">;

export interface TurnParts extends Pick<TurnRequest, "thinking" | "settings"> {
  readonly words: TurnInput;
  readonly target: Target;
  /** Texts for the system prompt. */
  readonly system: readonly string[];
  readonly chosen: ChosenTools;
  /** The session may be continued, so it stores the history of the request. */
  readonly isKept: boolean;
}

export function newTurn({ words, target, system, chosen, isKept, settings, ...more }: TurnParts): TurnRequest {
  const prompt = system.filter((text) => text !== "");
  return {
    runId: newId(),
    sessionKey: target.subject.session,
    ...words,
    ...(prompt.length === 0 ? {} : { extraSystem: prompt.join("\n\n") }),
    ...(isKept ? { keepHistory: true } : {}),
    ...(target.model === undefined ? {} : { model: target.model }),
    ...(chosen.tools.length === 0 ? {} : { clientTools: chosen.tools }),
    settings: { ...settings, ...chosen.settings },
    source: "http",
    authorised: false,
    ...more,
  };
}

function toMessage(message: InputMessage, timestamp: number): Message {
  if (message.role !== "user") return message;
  const { text, files, images } = message.content;
  const content: Block[] = [...(text === "" ? [] : [{ type: "text" as const, text }]), ...files, ...images];
  return { role: "user", content, timestamp };
}

/** A call of the model as the caller repeats it, with the argument text that we sent. */
export function readCall(id: unknown, name: unknown, args: unknown, at: string): CallBlock {
  if (typeof id !== "string" || id === "") return refuse(at, "the call needs its id");
  if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name)) return refuse(at, "the call needs the name of its tool");
  try {
    const value = typeof args === "string" ? parseStrict(args === "" ? "{}" : args) : undefined;
    if (isRecord(value)) return { type: "toolCall", id, name, arguments: value };
  } catch {
    // Rejected below: the caller sent invalid JSON.
  }
  return refuse(at, "the arguments of the call must be a JSON object as text");
}

type CallBlock = Extract<Extract<Message, { role: "assistant" }>["content"][number], { type: "toolCall" }>;

const LOOK_BACK = 400;

/** Rejects tool results whose calls are neither in the request nor in the session. */
export async function requireCalls(
  conversation: readonly InputMessage[],
  { subject }: Pick<Target, "subject">,
  { store }: GatewayContext,
  param: string,
): Promise<void> {
  const made = new Set<string>();
  const lost: string[] = [];
  for (const one of conversation) {
    if (one.role === "assistant") for (const block of one.content) if (block.type === "toolCall") made.add(block.id);
    if (one.role === "toolResult" && !made.has(one.toolCallId)) lost.push(one.toolCallId);
  }
  if (lost.length === 0) return;
  const record = await store.sessions.get(subject.session);
  const entries = record === undefined ? [] : await store.transcript.tail(record.sessionId, LOOK_BACK);
  const known = JSON.stringify(
    entries
      .filter(({ type }) => type === "message")
      .map(({ body }) => callIds(body))
      .flat(),
  );
  const missing = lost.find((id) => !known.includes(JSON.stringify(id)));
  if (missing !== undefined) refuse(param, `no tool call found for the tool output with call id ${missing}`);
}

function callIds(body: unknown): string[] {
  const content = isRecord(body) && body["role"] === "assistant" ? body["content"] : undefined;
  if (!Array.isArray(content)) return [];
  return (content as unknown[]).flatMap((block) =>
    isRecord(block) && block["type"] === "toolCall" && typeof block["id"] === "string" ? [block["id"]] : [],
  );
}

/** Passes on the text of a run as it grows; replies before and after a tool call are separated. */
export function textFollower(give: (delta: string) => void): (event: RunEvent) => void {
  let hasText = false;
  return ({ body }) => {
    if (body.stream !== "assistant") return;
    if (hasText && body.text === body.delta) give("\n\n");
    hasText = true;
    give(body.delta);
  };
}

/** Posts the turn, follows its events, and stops it when the caller leaves. */
export async function runTurn(
  agents: Agents,
  turn: TurnRequest,
  gone: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<RunOutcome> {
  const stop = agents.watch((event) => {
    if (event.runId === turn.runId) onEvent(event);
  });
  const onGone = (): void =>
    void agents.abort({ sessionKey: turn.sessionKey, runId: turn.runId }, "the client disconnected");
  gone.addEventListener("abort", onGone, { once: true });
  try {
    const receipt = await agents.post(turn);
    const outcome = receipt.outcome ?? (await agents.wait(turn.runId, 24 * 3_600_000));
    if (outcome !== undefined) return outcome;
    // The gateway stops, or the wait expired: a turn without a waiting client must not start later.
    await agents.abort({ sessionKey: turn.sessionKey, runId: turn.runId }, "the client disconnected");
    throw new OpenClawError("run.unknown", "the run did not end before the gateway stopped", { hint: "send it again" });
  } finally {
    gone.removeEventListener("abort", onGone);
    stop();
  }
}

/** A failed run is an HTTP error (docs/decisions/0030-failures-are-errors.md). */
export function failureStatus(
  outcome: RunOutcome,
): { status: number; type: string; message: string; code: string } | undefined {
  if (outcome.status === "ok") return undefined;
  if (outcome.status === "aborted")
    return { status: 499, type: "aborted", message: "the run was stopped", code: "run.aborted" };
  const { code = "run.failed", message = "the run failed", hint } = outcome.failure ?? {};
  const words = hint === undefined ? message : `${message} (fix: ${hint})`;
  if (code === "model.unsupported")
    return { status: 400, type: "invalid_request_error", message: words, code: "unsupported_parameter" };
  if (code === "model.none") return { status: 503, type: "model_unavailable", message: words, code };
  if (code.endsWith("rate-limit")) return { status: 429, type: "rate_limit_error", message: words, code };
  if (code.startsWith("budget.")) return { status: 402, type: "insufficient_quota", message: words, code };
  return { status: code.startsWith("model.") ? 502 : 500, type: "server_error", message: words, code };
}

/** Runs a turn without streaming; undefined when it failed and the error response has been sent. */
export async function wholeTurn(
  response: ServerResponse,
  agents: Agents,
  turn: TurnRequest,
): Promise<RunOutcome | undefined> {
  const outcome = await runTurn(agents, turn, goneSignal(response), () => {});
  const failure = failureStatus(outcome);
  if (failure === undefined) return outcome;
  const { status, ...error } = failure;
  sendJson(response, status, { error });
  return undefined;
}

const statusOf: Readonly<Record<string, number | undefined>> = {
  "agent.unknown": 404,
  "model.unknown": 404,
  "response.unknown": 404,
};

/** Errors of the request itself: unknown agent, malformed key, a parameter that cannot be honored. */
export function sendFailure(response: ServerResponse, error: unknown, context: GatewayContext): void {
  if (response.headersSent || response.destroyed) return;
  if (!(error instanceof OpenClawError)) {
    context.log.error("unexpected failure in an HTTP turn", { error });
    return sendError(response, 500, "server_error", "internal error");
  }
  const { param = null, code = error.code } = isRecord(error.details) ? error.details : {};
  const message = context.mask(error.hint === undefined ? error.message : `${error.message} (fix: ${error.hint})`);
  const status = statusOf[error.code] ?? (error.code.startsWith("store.") ? 503 : 400);
  sendJson(response, status, { error: { message, type: "invalid_request_error", param, code } });
}
