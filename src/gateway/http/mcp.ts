// /mcp: tools, resources and prompts for MCP clients, with the same secret and policy as /tools/invoke.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import { parseStrict } from "../../core/strict-json.ts";
import { refusal, RPC, STATELESS_REVISIONS, type RpcAnswer } from "../../mcp/message.ts";
import type { McpCaller } from "../../mcp/server/exchange.ts";
import { createMcpServer, type McpServer } from "../../mcp/server/server.ts";
import type { Sink } from "../../mcp/server/stream.ts";
import { WIRE_LIMITS } from "../../protocol/frame.ts";
import type { GatewayContext } from "../context.ts";
import type { Peer } from "../peer.ts";
import { goneSignal, readBody, sendJson, sendText } from "./answer.ts";
import { bearerSubject } from "./tools-invoke.ts";

const MAX_BODY = 2_000_000;

export async function serveMcp(
  request: IncomingMessage,
  response: ServerResponse,
  context: GatewayContext,
  peer: Peer,
): Promise<void> {
  const caller = callerOf(request, response, context, peer);
  const answer = await answerOf(request, response, serverOf(context), caller);
  if (answer === undefined || response.destroyed) return;
  if (answer === "not-allowed")
    return sendText(response, 405, "Method Not Allowed", { allow: caller.sessionId === undefined ? "POST" : ALL });
  const { status, body, sessionId } = answer;
  if (sessionId !== undefined) response.setHeader("mcp-session-id", sessionId);
  if (body === undefined) return void response.writeHead(status).end();
  sendJson(response, status, hasRefusal(body) ? masked(body, context.mask) : body);
}

const ALL = "POST, GET, DELETE";

/** One server for each gateway, made with its first request. */
const servers = new WeakMap<GatewayContext, McpServer>();

function serverOf(context: GatewayContext): McpServer {
  const known = servers.get(context);
  if (known !== undefined) return known;
  const made = createMcpServer({ ...context, registry: context.mcp });
  servers.set(context, made);
  context.closing.addEventListener("abort", () => made.close(), { once: true });
  return made;
}

async function answerOf(
  request: IncomingMessage,
  response: ServerResponse,
  server: McpServer,
  caller: McpCaller,
): Promise<RpcAnswer | "not-allowed" | undefined> {
  const message = request.method === "POST" ? await bodyOf(request, response) : undefined;
  if (message !== undefined) return "refused" in message ? message.refused : server.post(message.value, caller);
  // Since 2026-07-28 there is only POST; before, GET and DELETE belong to a session.
  const isStateless = STATELESS_REVISIONS.some((revision) => revision === caller.claims.revision);
  if (isStateless || caller.sessionId === undefined) return "not-allowed";
  if (request.method === "DELETE") return server.end(caller);
  if (request.method !== "GET") return "not-allowed";
  return server.listen(caller, headerOf(request, "last-event-id"));
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

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function callerOf(request: IncomingMessage, response: ServerResponse, context: GatewayContext, peer: Peer): McpCaller {
  const header = (name: string): string | undefined => headerOf(request, name);
  const takesEvents = /\btext\/event-stream\b|\*\/\*/.test(header("accept") ?? "");
  return {
    gone: goneSignal(response),
    isLocal: peer.local,
    sessionId: header("mcp-session-id"),
    openStream: takesEvents ? () => openSink(response) : undefined,
    claims: {
      revision: header("mcp-protocol-version"),
      method: header("mcp-method"),
      name: header("mcp-name"),
      param: (name) => header(`mcp-param-${name.toLowerCase()}`),
    },
    async subject() {
      const sessionKey = header("x-openclaw-session-key");
      const agentId = header("x-openclaw-agent-id");
      const subject = bearerSubject(request, peer, { sessionKey, agentId }, context.config());
      const turn = header("x-openclaw-run-id");
      if (turn === undefined) return { subject };
      // The caller claims to be part of a run, so it gets no more rights than the source of that run.
      const entry = await context.store.inbox.get(turn);
      if (entry?.sessionKey === subject.session) return { subject, turn };
      throw new OpenClawError("run.unknown", `there is no run of that id in session ${subject.session}`, {
        hint: "leave out x-openclaw-run-id, or name the session of the run in x-openclaw-session-key",
      });
    },
  };
}

const RETRY_MS = 1000;
/** Proxies end connections that are silent for long. */
const KEEP_ALIVE_MS = 25_000;

function openSink(response: ServerResponse): Sink {
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  response.flushHeaders();
  const write = (text: string): void => {
    if (response.writableEnded || response.destroyed) return;
    // A reader that stopped reading is cut, so that it cannot fill our memory.
    if (response.writableLength > WIRE_LIMITS.maxBufferedBytes) response.destroy();
    else response.write(text);
  };
  const alive = setInterval(() => write(": keep-alive\n\n"), KEEP_ALIVE_MS).unref();
  response.on("close", () => clearInterval(alive));
  return {
    send(message, eventId) {
      const id = eventId === undefined ? "" : `id: ${eventId}\n`;
      // An event without a message gives the client an id to resume from.
      if (message === undefined) write(`${id}retry: ${RETRY_MS}\ndata: \n\n`);
      else write(`${id}data: ${JSON.stringify(message)}\n\n`);
    },
    close: () => void response.end(),
  };
}
