// What the two OpenAI-shaped endpoints share: agent and session of a request, the run behind it, failures as HTTP.
import type { IncomingMessage, ServerResponse } from "node:http";

import { HouseError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import type { RunEvent, RunOutcome } from "../../core/event.ts";
import { newId, sha256 } from "../../base/ids.ts";
import type { Agents } from "../../agent/agent.ts";
import type { TurnRequest } from "../../session/turns.ts";
import { subjectOf, type Subject } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import { goneSignal, readBody, sendError, sendJson } from "./answer.ts";

/** The parsed body, or undefined when the answer has been sent. */
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
    const tooLarge = error instanceof HouseError && error.code === "http.too-large";
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

/** Agent by `model` or header, session by header or by `user`; without either a session of its own. Unknown agents throw. */
export function turnSubject(request: IncomingMessage, body: Record<string, unknown>, context: GatewayContext): Subject {
  const { headers } = request;
  const config = context.config();
  const explicit = headers["x-openclaw-session-key"];
  if (typeof explicit === "string" && explicit !== "") return subjectOf({ sessionKey: explicit }, config);
  const named = /^(?:openclaw|agent)[:/](.+)$/i.exec(typeof body["model"] === "string" ? body["model"] : "")?.[1];
  const header = headers["x-openclaw-agent-id"];
  const agentId = named ?? (typeof header === "string" && header !== "" ? header : undefined);
  const { agent } = subjectOf({ agentId }, config);
  const user = body["user"];
  // The user's name is the caller's word; a digest keeps it a name and nothing else.
  const rest =
    typeof user === "string" && user !== "" ? `openai-user:${sha256(user).slice(0, 24)}` : `openai:${newId()}`;
  return subjectOf({ sessionKey: `agent:${agent}:${rest}` }, config);
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
  const onGone = (): void => void agents.abort({ sessionKey: turn.sessionKey, runId: turn.runId }, "the caller left");
  gone.addEventListener("abort", onGone, { once: true });
  try {
    const receipt = await agents.post(turn);
    const outcome = receipt.outcome ?? (await agents.wait(turn.runId, 24 * 3_600_000));
    if (outcome !== undefined) return outcome;
    // The gateway stops, or a day is over: what nobody can be answered with is not begun later.
    await agents.abort({ sessionKey: turn.sessionKey, runId: turn.runId }, "nobody waits for it");
    throw new HouseError("run.unknown", "the run did not end before the gateway stopped", { hint: "send it again" });
  } finally {
    gone.removeEventListener("abort", onGone);
    stop();
  }
}

/** A failure is a failure on HTTP too (ruling 30). */
export function failureStatus(
  outcome: RunOutcome,
): { status: number; type: string; message: string; code: string } | undefined {
  if (outcome.status === "ok") return undefined;
  if (outcome.status === "aborted")
    return { status: 499, type: "aborted", message: "the run was stopped", code: "run.aborted" };
  const { code = "run.failed", message = "the run failed", hint } = outcome.failure ?? {};
  const words = hint === undefined ? message : `${message} (fix: ${hint})`;
  if (code === "model.none") return { status: 503, type: "model_unavailable", message: words, code };
  if (code.endsWith("rate-limit")) return { status: 429, type: "rate_limit_error", message: words, code };
  if (code.startsWith("budget.")) return { status: 402, type: "insufficient_quota", message: words, code };
  return { status: code.startsWith("model.") ? 502 : 500, type: "server_error", message: words, code };
}

/** A turn answered in one piece; undefined when it failed and the answer has been sent. */
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

/** Errors of the request itself: unknown agent, malformed key. */
export function sendHouseError(response: ServerResponse, error: unknown, context: GatewayContext): void {
  if (response.headersSent || response.destroyed) return;
  if (!(error instanceof HouseError)) {
    context.log.error("unexpected failure in an HTTP turn", { error });
    return sendError(response, 500, "server_error", "internal error");
  }
  const missing = error.code === "agent.unknown";
  sendError(
    response,
    missing ? 404 : error.code.startsWith("store.") ? 503 : 400,
    "invalid_request_error",
    context.mask(error.hint === undefined ? error.message : `${error.message} (fix: ${error.hint})`),
  );
}
