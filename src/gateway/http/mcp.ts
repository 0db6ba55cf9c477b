// POST /mcp: the tools of a session for programs that speak MCP, by the same secret and under the same policy as /tools/invoke.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import { answerMcp, type McpCaller } from "../../mcp/server.ts";
import { refusal, RPC, type RpcAnswer } from "../../mcp/message.ts";
import type { GatewayContext } from "../context.ts";
import type { Peer } from "../peer.ts";
import { goneSignal, readBody, sendJson } from "./answer.ts";
import { bearerSubject } from "./tools-invoke.ts";

const MAX_BODY = 2_000_000;

export async function serveMcp(
  request: IncomingMessage,
  response: ServerResponse,
  context: GatewayContext,
  peer: Peer,
): Promise<void> {
  const gone = goneSignal(response);
  const message = await bodyOf(request, response);
  const { version, catalog, callTool, log, mask } = context;
  const answer =
    "refused" in message
      ? message.refused
      : await answerMcp(message.value, callerOf(request, context, peer, gone), {
          version,
          catalog,
          callTool,
          log,
        });
  if (response.destroyed) return;
  if (answer.body === undefined) return void response.writeHead(answer.status).end();
  sendJson(response, answer.status, hasRefusal(answer.body) ? masked(answer.body, mask) : answer.body);
}

async function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<{ readonly value: unknown } | { readonly refused: RpcAnswer }> {
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\b/i.test(type)) return { refused: refusal(415, RPC.invalid, "send application/json") };
  try {
    const bytes = await readBody(request, MAX_BODY);
    return { value: parseStrict(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    if (!(error instanceof OpenClawError) || !error.code.startsWith("http."))
      return { refused: refusal(400, RPC.parse, `the body is not JSON: ${words}`) };
    response.setHeader("connection", "close");
    return { refused: refusal(error.code === "http.too-large" ? 413 : 408, RPC.invalid, words) };
  }
}

function hasRefusal(body: object): boolean {
  return (Array.isArray(body) ? body : [body]).some((one: object) => "error" in one);
}

/** Tool results are redacted where tools run; a rejection can quote input, so it is redacted here. */
function masked(body: object, mask: GatewayContext["mask"]): unknown {
  return JSON.parse(mask(JSON.stringify(body))) as unknown;
}

function callerOf(request: IncomingMessage, context: GatewayContext, peer: Peer, signal: AbortSignal): McpCaller {
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return {
    signal,
    claims: { revision: header("mcp-protocol-version"), method: header("mcp-method"), name: header("mcp-name") },
    async subject() {
      const sessionKey = header("x-openclaw-session-key");
      const agentId = header("x-openclaw-agent-id");
      const subject = bearerSubject(request, peer, { sessionKey, agentId }, context.config());
      const turn = header("x-openclaw-run-id");
      if (turn === undefined) return { subject };
      // Said to be part of a run: then it has no more rights than whoever led to that run.
      const entry = await context.store.inbox.get(turn);
      if (entry?.sessionKey === subject.session) return { subject, turn };
      throw new OpenClawError("run.unknown", `there is no run of that id in session ${subject.session}`, {
        hint: "leave out x-openclaw-run-id, or name the session of the run in x-openclaw-session-key",
      });
    },
  };
}
