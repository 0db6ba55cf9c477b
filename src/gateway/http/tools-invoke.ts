// POST /tools/invoke: one tool call, on the same path as every other call.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import { visible } from "../../core/visible.ts";
import type { Config } from "../../config/schema/index.ts";
import { subjectOf, withoutAdmin, type Subject, type SubjectRequest } from "../../tool/subject.ts";
import type { GatewayContext } from "../context.ts";
import type { Peer } from "../peer.ts";
import { goneSignal, readBody, sendError, sendJson } from "./answer.ts";

const MAX_BODY = 2_000_000;

interface Body {
  readonly tool: string;
  readonly action: string | undefined;
  readonly args: unknown;
  readonly sessionKey: string | undefined;
}

export async function invokeTool(
  request: IncomingMessage,
  response: ServerResponse,
  context: GatewayContext,
  peer: Peer,
): Promise<void> {
  const body = await parseBody(request, response);
  if (body === undefined) return;
  const signal = goneSignal(response);
  try {
    const subject = bearerSubject(request, peer, { sessionKey: body.sessionKey }, context.config());
    const args = withAction(body, context, subject);
    const result = await context.callTool({ tool: body.tool, args, subject, caller: "http", signal });
    sendJson(response, 200, { ok: true, result });
  } catch (error) {
    answerFailure(response, error, body.tool, context);
  }
}

async function parseBody(request: IncomingMessage, response: ServerResponse): Promise<Body | undefined> {
  const type = request.headers["content-type"];
  if (type !== undefined && !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
    sendError(response, 415, "unsupported_media_type", "send application/json");
    return undefined;
  }
  let value: unknown;
  try {
    const bytes = await readBody(request, MAX_BODY);
    value = bytes.length === 0 ? {} : parseStrict(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof OpenClawError && error.code.startsWith("http.")) {
      response.setHeader("connection", "close");
      sendError(
        response,
        error.code === "http.too-large" ? 413 : 408,
        error.code === "http.too-large" ? "payload_too_large" : "timeout",
        error.message,
      );
    } else
      sendError(
        response,
        400,
        "invalid_request_error",
        `the body is not JSON: ${error instanceof Error ? error.message : String(error)}`,
      );
    return undefined;
  }
  return toBody(value, response);
}

function toBody(value: unknown, response: ServerResponse): Body | undefined {
  const { tool, action, args, sessionKey } = (
    typeof value === "object" && value !== null && !Array.isArray(value) ? value : {}
  ) as Record<string, unknown>;
  const problem =
    typeof tool !== "string" || tool.trim() === ""
      ? "tools.invoke requires body.tool"
      : action !== undefined && typeof action !== "string"
        ? "body.action must be a string"
        : sessionKey !== undefined && typeof sessionKey !== "string"
          ? "body.sessionKey must be a string"
          : undefined;
  if (problem !== undefined) {
    sendError(response, 400, "invalid_request_error", problem);
    return undefined;
  }
  return {
    tool: (tool as string).trim(),
    action: action as string | undefined,
    args,
    sessionKey: sessionKey as string | undefined,
  };
}

/**
 * The session of a caller with the shared secret. Its headers about a chat can only narrow the rules of the session
 * key; from another machine it is a client without operator.admin, because none of its devices was paired.
 */
export function bearerSubject(
  { headers }: IncomingMessage,
  peer: Peer,
  request: SubjectRequest,
  config: Config,
): Subject {
  const one = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  };
  const claimed = { channel: one("x-openclaw-message-channel"), accountId: one("x-openclaw-account-id") };
  const subject = subjectOf({ ...request, claimed }, config);
  return peer.local ? subject : withoutAdmin(subject);
}

/** `action` beside the arguments is a convenience for tools that have an action parameter. */
function withAction({ tool, action, args }: Body, context: GatewayContext, subject: Subject): unknown {
  if (action === undefined || (typeof args === "object" && args !== null && "action" in args)) return args;
  const schema = context.catalog.judge(subject, tool).tool?.params.properties;
  return schema !== undefined && "action" in schema ? { ...(args as object | undefined), action } : args;
}

const absent: ReadonlySet<string> = new Set(["tool.refused", "tool.unknown", "tool.unavailable"]);

function answerFailure(response: ServerResponse, error: unknown, tool: string, { log, mask }: GatewayContext): void {
  if (response.destroyed || response.headersSent) return;
  if (!(error instanceof OpenClawError)) {
    log.error("unexpected failure in tools.invoke", { error });
    sendJson(response, 500, { ok: false, error: { type: "internal", message: "internal error" } });
    return;
  }
  const { code, message, hint, details } = error;
  const more = {
    code,
    ...(hint === undefined ? {} : { hint: mask(hint) }),
    ...(typeof details === "object" ? details : {}),
  };
  if (absent.has(code)) {
    sendJson(response, 404, {
      ok: false,
      error: {
        type: "not_found",
        message: `Tool not available: ${mask(visible(tool, 100))}`,
        details: { ...more, reason: mask(message) },
      },
    });
    return;
  }
  const down = code.startsWith("store.");
  sendJson(response, down ? 503 : 400, {
    ok: false,
    error: { type: down ? "unavailable" : "tool_error", message: mask(message), details: more },
  });
}
