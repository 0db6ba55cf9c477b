// A stand-in for the OpenAI API on loopback: chat completions, responses and models, streaming and not, as published.
import { checkChatRequest } from "./openai-request.ts";
import { playResponses } from "./openai-responses.ts";
import { pieces, type Answer, type Finish, type Reply } from "./reply.ts";
import {
  eventStream,
  json,
  nextReply,
  startFakeServer,
  type FakeRequest,
  type FakeServer,
  type Performance,
  type Script,
  type Tls,
} from "./server.ts";
import { createPrefixCache, tokensIn, type Counted } from "./usage.ts";

export {
  call,
  calls,
  drip,
  drop,
  empty,
  fail,
  garbage,
  halfCall,
  hang,
  lateFail,
  refuse,
  say,
  think,
} from "./reply.ts";
export type { Reply } from "./reply.ts";
export type { FakeRequest, FakeServer } from "./server.ts";

export interface FakeOpenAIOptions {
  readonly models?: readonly string[];
  /** When given, any other key is answered with 401. */
  readonly key?: string;
  readonly tls?: Tls;
  /** A port of the caller's choosing; else a free one. */
  readonly port?: number;
}

/** Only model calls count for the script's index; GET /v1/models is answered and recorded besides. */
export async function startFakeOpenAI(
  script: Script,
  { models = ["fake-model"], key, tls, port }: FakeOpenAIOptions = {},
): Promise<FakeServer> {
  const count = createPrefixCache();
  let index = -1;
  return startFakeServer(
    async (request) => {
      if (key !== undefined && request.headers["authorization"] !== `Bearer ${key}`) return unauthorized();
      if (request.path === "/v1/models") return json(200, modelList(models));
      if (request.path !== "/v1/chat/completions" && request.path !== "/v1/responses") return missing(request);
      index += 1;
      if (request.path === "/v1/responses")
        return playResponses(await nextReply(script, request, index), request, count);
      const wrong = checkChatRequest(request.body);
      if (wrong !== undefined) return json(400, problem(wrong, "invalid_request_error"));
      return playChat(
        await nextReply(script, request, index),
        request,
        count(JSON.stringify(request.body["messages"])),
      );
    },
    { prefix: "/v1", tls, port },
  );
}

export function problem(message: string, type: string, code: string | null = null): unknown {
  return { error: { message, type, param: null, code } };
}

function playChat(reply: Reply, request: FakeRequest, counted: Counted): Performance | "hang" | "drop" {
  if (reply.kind === "fail") {
    const body = reply.body ?? problem(`status ${reply.status}`, "server_error");
    return json(reply.status, body, reply.headers);
  }
  if (reply.kind === "hang") return reply.when === "before" ? "hang" : stream([], "stay");
  if (reply.kind === "drop" && reply.when === "before") return "drop";
  if (request.body["stream"] !== true) return json(200, whole(reply, request, counted));
  return playChatStream(reply, request, counted);
}

function playChatStream(reply: Reply, request: FakeRequest, counted: Counted): Performance {
  const chunk = chunkOf(request);
  const first = chunk({ role: "assistant", content: "", refusal: null });
  if (reply.kind === "drip") return { ...stream([chunk({ content: "." })], "repeat"), delayMs: reply.everyMs };
  if (reply.kind === "garbage") return stream([first, "data: {this is not json\n\n", "data: \u0000\u0001\n\n"], "end");
  if (reply.kind === "drop") return stream([first, chunk({ content: "half an ans" })], "cut");
  if (reply.kind === "late-fail") {
    const error = `data: ${JSON.stringify(problem(reply.message, reply.type))}\n\n`;
    return stream([first, ...(reply.text === "" ? [] : [chunk({ content: reply.text })]), error], "end");
  }
  if (reply.kind === "half-call") {
    const begun = chunk({ tool_calls: [toolCall(0, { id: "call_half", name: reply.name, arguments: reply.text })] });
    if (reply.ends === "cut") return stream([first, begun], "cut");
    return stream([first, begun, chunk({}, "tool_calls"), ...usageFrame(request, counted, reply.text), done], "end");
  }
  const answer = reply.kind === "answer" ? reply : undefined;
  const frames = [first, ...(answer === undefined ? [] : deltasOf(answer).map((delta) => chunk(delta)))];
  const text = answer?.parts.map((part) => (part.type === "call" ? part.arguments : part.text)).join("") ?? "";
  const end = [chunk({}, finishWord(answer?.finish ?? "stop")), ...usageFrame(request, counted, text), done];
  return {
    ...stream([...frames, ...end], "end"),
    delayMs: answer?.delayMs ?? 0,
    ...(answer?.shredBytes === undefined ? {} : { shredBytes: answer.shredBytes }),
  };
}

function deltasOf(answer: Answer): object[] {
  let callIndex = -1;
  return answer.parts.flatMap((part): object[] => {
    if (part.type === "thinking") return pieces(part.text, 2).map((text) => ({ reasoning_content: text }));
    if (part.type === "text") {
      const key = answer.finish === "refusal" ? "refusal" : "content";
      return pieces(part.text, part.chunks).map((text) => ({ [key]: text }));
    }
    callIndex += 1;
    const start = toolCall(callIndex, { id: part.id, name: part.name, arguments: "" });
    const more = pieces(part.arguments, 3).map((text) => ({ index: callIndex, function: { arguments: text } }));
    return [start, ...more].map((entry) => ({ tool_calls: [entry] }));
  });
}

function toolCall(
  index: number,
  { id, name, arguments: text }: { id: string; name: string; arguments: string },
): object {
  return { index, id, type: "function", function: { name, arguments: text } };
}

function chunkOf(request: FakeRequest): (delta: object, finish?: string) => string {
  const head = { id: "chatcmpl-stand-in", object: "chat.completion.chunk", created: 1_760_000_000 };
  const model = request.body["model"];
  return (delta, finish) =>
    `data: ${JSON.stringify({ ...head, model, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish ?? null }] })}\n\n`;
}

function usageFrame(request: FakeRequest, counted: Counted, text: string): string[] {
  const options = request.body["stream_options"] as { include_usage?: boolean } | undefined;
  if (options?.include_usage !== true) return [];
  const head = { id: "chatcmpl-stand-in", object: "chat.completion.chunk", created: 1_760_000_000 };
  return [
    `data: ${JSON.stringify({ ...head, model: request.body["model"], choices: [], usage: usageOf(counted, text) })}\n\n`,
  ];
}

function usageOf({ input, cached }: Counted, text: string): object {
  const output = tokensIn(text);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function whole(reply: Reply, request: FakeRequest, counted: Counted): unknown {
  const parts = reply.kind === "answer" ? reply.parts : [];
  const finish = reply.kind === "answer" ? reply.finish : "stop";
  const textOf = (type: string): string =>
    parts.map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
  const toolCalls = parts.flatMap((part) =>
    part.type === "call"
      ? [{ id: part.id, type: "function", function: { name: part.name, arguments: part.arguments } }]
      : [],
  );
  const text = textOf("text");
  const message = {
    role: "assistant",
    content: finish === "refusal" || text === "" ? null : text,
    refusal: finish === "refusal" ? text : null,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
  return {
    id: "chatcmpl-stand-in",
    object: "chat.completion",
    created: 1_760_000_000,
    model: request.body["model"],
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishWord(finish) }],
    usage: usageOf(counted, text + toolCalls.map((entry) => entry.function.arguments).join("")),
  };
}

const done = "data: [DONE]\n\n";

function stream(frames: readonly string[], after: Performance["after"]): Performance {
  return { status: 200, headers: eventStream, frames, after };
}

function finishWord(finish: Finish): string {
  return { stop: "stop", tool: "tool_calls", length: "length", refusal: "stop" }[finish];
}

function modelList(models: readonly string[]): unknown {
  const list = models.map((id) => ({ id, object: "model", created: 1_760_000_000, owned_by: "stand-in" }));
  return { object: "list", data: list };
}

function unauthorized(): Performance {
  return json(401, problem("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"));
}

function missing(request: FakeRequest): Performance {
  return json(404, problem(`Invalid URL (${request.method} ${request.path})`, "invalid_request_error"));
}
