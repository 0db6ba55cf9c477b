// Serves tools, resources and prompts over the Model Context Protocol, in every revision that `message.ts` names.
import { OpenClawError } from "../../core/error.ts";
import { readBatch, readMessage, refusal, RPC } from "../message.ts";
import type { RpcAnswer, RpcReply, RpcRequest } from "../message.ts";
import { errorData, errorText } from "./error-text.ts";
import { openExchange, type McpCaller } from "./exchange.ts";
import { MethodCall } from "./method-call.ts";
import { answerMethod } from "./methods.ts";
import { createParts, type ServerParts } from "./parts.ts";
import type { McpPorts } from "./ports.ts";
import { notifySession } from "./resources.ts";
import { STANDALONE, type McpSession } from "./session.ts";
import { parseEventId, ResumableStream } from "./stream.ts";

export interface McpServer {
  /** Undefined when the answer went out on the stream. */
  post(message: unknown, caller: McpCaller): Promise<RpcAnswer | undefined>;
  /** Opens the stream of messages that belong to no request, or resumes a stream. Undefined when it is open. */
  listen(caller: McpCaller, lastEventId: string | undefined): Promise<RpcAnswer | undefined>;
  /** Ends the session. */
  end(caller: McpCaller): RpcAnswer;
  /** Ends streams that wait for changes; running calls continue. */
  close(): void;
}

export function createMcpServer(ports: McpPorts): McpServer {
  const parts = createParts(ports);
  const sessionOf = ({ sessionId, isLocal }: McpCaller): McpSession | undefined =>
    sessionId === undefined ? undefined : parts.sessions.get(sessionId, isLocal);
  return {
    async post(message, caller) {
      const session = sessionOf(caller);
      if (caller.sessionId !== undefined && session === undefined) return noSession();
      const batch = readBatch(message, caller.claims);
      if (batch === undefined) return answerOne(message, caller, session, parts);
      return "status" in batch ? batch : answerBatch(batch, caller, session, parts);
    },
    async listen(caller, lastEventId) {
      const session = sessionOf(caller);
      return session === undefined ? noSession() : openStream(session, caller, lastEventId, parts);
    },
    end(caller) {
      const session = sessionOf(caller);
      if (session === undefined) return noSession();
      parts.sessions.end(session);
      return { status: 204 };
    },
    close() {
      for (const end of parts.waiting) end();
    },
  };
}

/** In order: a later call may build on what an earlier one did. */
async function answerBatch(
  batch: readonly unknown[],
  caller: McpCaller,
  session: McpSession | undefined,
  parts: ServerParts,
): Promise<RpcAnswer> {
  const answers: object[] = [];
  // The answer is one JSON body, so no message can go out before it.
  const plain = { ...caller, openStream: undefined };
  for (const one of batch) {
    const body = (await answerOne(one, plain, session, parts))?.body;
    if (body !== undefined) answers.push(body);
  }
  return answers.length === 0 ? { status: 202 } : { status: 200, body: answers };
}

async function answerOne(
  message: unknown,
  caller: McpCaller,
  session: McpSession | undefined,
  parts: ServerParts,
): Promise<RpcAnswer | undefined> {
  const request = readMessage(message, caller.claims);
  if ("status" in request) return request;
  if ("replyTo" in request) return takeReply(request, session);
  if (request.id === undefined) return takeNotification(request, session);
  const exchange = openExchange(caller, request.revision === undefined ? session : undefined);
  exchange.session?.calls.set(request.id, exchange);
  try {
    const answer = await answerSafely(new MethodCall(request, exchange, parts));
    return exchange.finish(redactRefusal(answer, parts));
  } finally {
    // A client may use an id twice; the later request can still be canceled.
    if (exchange.session?.calls.get(request.id) === exchange) exchange.session.calls.delete(request.id);
  }
}

async function answerSafely(call: MethodCall): Promise<RpcAnswer> {
  const { id } = call.request;
  try {
    return await answerMethod(call);
  } catch (error) {
    if (error instanceof OpenClawError) return refusal(200, RPC.badParams, errorText(error), id, errorData(error));
    if (!call.exchange.signal.aborted) call.parts.ports.log.error("unexpected failure in an MCP request", { error });
    return refusal(200, RPC.internal, "internal error", id);
  }
}

/** Tool results are redacted where tools run; a refusal can quote input. */
function redactRefusal(answer: RpcAnswer, { redact }: ServerParts): RpcAnswer {
  if (answer.body === undefined || !("error" in answer.body)) return answer;
  return { ...answer, body: redact(answer.body) };
}

function takeReply(reply: RpcReply, session: McpSession | undefined): RpcAnswer {
  session?.reply(reply);
  return { status: 202 };
}

function takeNotification({ method, params }: RpcRequest, session: McpSession | undefined): RpcAnswer {
  const id = params["requestId"];
  if (method === "notifications/cancelled" && (typeof id === "string" || typeof id === "number"))
    session?.calls.get(id)?.cancel();
  return { status: 202 };
}

async function openStream(
  session: McpSession,
  caller: McpCaller,
  lastEventId: string | undefined,
  parts: ServerParts,
): Promise<RpcAnswer | undefined> {
  if (caller.openStream === undefined) return refusal(406, RPC.invalid, "needs accept: text/event-stream");
  const resumed = lastEventId === undefined ? undefined : parseEventId(lastEventId);
  const known = session.streams.get(resumed?.stream ?? STANDALONE);
  if (lastEventId !== undefined && (resumed === undefined || known?.canResume(resumed.number) !== true))
    return refusal(404, RPC.invalid, "this stream cannot be resumed: its messages are no longer kept");
  const stream = known ?? new ResumableStream(STANDALONE);
  session.streams.set(stream.id, stream);
  const sink = caller.openStream();
  stream.attach(sink, resumed?.number);
  const end = (): void => sink.close();
  parts.waiting.add(end);
  const onGone = (): void => {
    stream.detach(sink);
    parts.waiting.delete(end);
  };
  caller.gone.addEventListener("abort", onGone, { once: true });
  if (stream.id === STANDALONE) await notifySession(session, stream, caller, parts);
  return undefined;
}

function noSession(): RpcAnswer {
  return refusal(404, RPC.invalid, "unknown or ended session; begin again with initialize");
}
