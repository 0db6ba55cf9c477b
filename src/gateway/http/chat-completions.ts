// POST /v1/chat/completions: runs an agent's turn for OpenAI clients, streamed or whole.
import type { IncomingMessage, ServerResponse } from "node:http";

import { OpenClawError } from "../../core/error.ts";
import type { RunOutcome } from "../../core/event.ts";
import { isRecord } from "../../core/record.ts";
import type { Agents } from "../../agent/agent.ts";
import type { TurnRequest } from "../../session/turns.ts";
import { requireSend } from "../../session/send-policy.ts";
import type { GatewayContext } from "../context.ts";
import { sendJson } from "./answer.ts";
import { readContent } from "./openai-content.ts";
import {
  answerSettings,
  checkParameters,
  chooseTools,
  clientTools,
  jsonFormat,
  optionalFlag,
  optionalRecord,
  refuse,
  thinkingOf,
  type Body,
  type KnownParameters,
} from "./openai-request.ts";
import {
  failureStatus,
  newTurn,
  readCall,
  readJson,
  requireCalls,
  runTurn,
  sendFailure,
  textFollower,
  turnTarget,
  turnInput,
  wholeTurn,
  type OpenAIDeps,
  type InputMessage,
} from "./openai-turn.ts";
import { openEventStream } from "./sse.ts";

const MAX_BODY = 20_000_000;

const parameters: KnownParameters = {
  taken: new Set(
    (
      "model messages stream stream_options user tools tool_choice parallel_tool_calls max_tokens max_completion_tokens " +
      "temperature top_p stop seed presence_penalty frequency_penalty response_format reasoning_effort " +
      // These control how the vendor stores, bills and caches; here the gateway decides that.
      "metadata store service_tier safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention"
    ).split(" "),
  ),
  neutral: {
    n: 1,
    logprobs: false,
    top_logprobs: 0,
    logit_bias: {},
    modalities: ["text"],
    verbosity: "medium",
    functions: [],
    function_call: "none",
    audio: null,
    prediction: null,
    web_search_options: null,
    moderation: null,
  },
};

export async function completeChat(
  request: IncomingMessage,
  response: ServerResponse,
  deps: OpenAIDeps,
): Promise<void> {
  const { context, agents } = deps;
  const body = await readJson(request, response, MAX_BODY);
  if (body === undefined) return;
  try {
    const turn = await turnOf(request, body, deps);
    const model = typeof body["model"] === "string" ? body["model"] : "openclaw";
    const head = { id: `chatcmpl_${turn.runId}`, created: Math.floor(context.clock.now() / 1000), model };
    if (optionalFlag(body, "stream") === true) return await stream(response, agents, turn, head, wantsUsage(body));
    const outcome = await wholeTurn(response, agents, turn);
    if (outcome === undefined) return;
    sendJson(response, 200, {
      ...head,
      object: "chat.completion",
      choices: [{ index: 0, message: messageOf(outcome), logprobs: null, finish_reason: finishOf(outcome) }],
      usage: usageOf(outcome),
    });
  } catch (error) {
    sendFailure(response, error, context);
  }
}

async function turnOf(request: IncomingMessage, body: Body, deps: OpenAIDeps): Promise<TurnRequest> {
  const { context } = deps;
  checkParameters(body, parameters);
  const target = await turnTarget(request, body, deps);
  const { subject } = target;
  const { conversation, system } = await readMessages(body["messages"], context);
  const words = turnInput(conversation, "messages", context.clock.now());
  await requireCalls(conversation, target, context, "messages");
  const own = clientTools(body["tools"], () => context.catalog.offered(subject));
  await requireSend(context.store.sessions, subject.session, context.config());
  return newTurn({
    words,
    target,
    system,
    chosen: chooseTools(body["tool_choice"], own),
    isKept: target.isNamed,
    ...thinkingOf(body["reasoning_effort"], "reasoning_effort"),
    settings: {
      ...answerSettings(body, ["max_completion_tokens", "max_tokens"]),
      ...jsonFormat(optionalRecord(body, "response_format"), "response_format"),
    },
  });
}

async function stream(
  response: ServerResponse,
  agents: Agents,
  turn: TurnRequest,
  head: object,
  withUsage: boolean,
): Promise<void> {
  const out = openEventStream(response);
  const chunk = (delta: object, finish: string | null): void =>
    out.send({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
  chunk({ role: "assistant", content: "" }, null);
  let hasText = false;
  const say = (content: string): void => {
    hasText = true;
    chunk({ content }, null);
  };
  const outcome = await runTurn(agents, turn, out.gone, textFollower(say));
  const failure = failureStatus(outcome);
  if (failure !== undefined) out.send({ error: { message: failure.message, type: failure.type, code: failure.code } });
  else {
    if (!hasText && outcome.text !== "" && !outcome.silent) say(outcome.text);
    for (const [index, call] of toolCallsOf(outcome).entries()) chunk({ tool_calls: [{ index, ...call }] }, null);
    chunk({}, finishOf(outcome));
    if (withUsage) out.send({ ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(outcome) });
  }
  out.done();
}

function wantsUsage(body: Body): boolean {
  return optionalRecord(body, "stream_options")?.["include_usage"] === true;
}

function messageOf(outcome: RunOutcome): object {
  const calls = toolCallsOf(outcome);
  const text = outcome.silent ? "" : outcome.text;
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    refusal: null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function toolCallsOf({ clientCalls = [] }: RunOutcome): object[] {
  return clientCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  }));
}

function finishOf({ clientCalls = [], cut }: RunOutcome): string {
  if (clientCalls.length > 0) return "tool_calls";
  if (cut === "length") return "length";
  return cut === "refusal" ? "content_filter" : "stop";
}

function usageOf({ usage }: RunOutcome): object {
  const prompt = (usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
  const completion = usage?.output ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage?.cacheRead ?? 0 },
  };
}

interface Conversation {
  readonly conversation: readonly InputMessage[];
  readonly system: readonly string[];
}

/** System and developer messages go to the system prompt, wherever they are in the list. */
async function readMessages(messages: unknown, context: GatewayContext): Promise<Conversation> {
  if (!Array.isArray(messages) || !messages.some(isInput))
    throw new OpenClawError("http.bad-parameter", "Missing user message in `messages`.", {
      details: { param: "messages" },
    });
  const timestamp = context.clock.now();
  const conversation: InputMessage[] = [];
  const system: string[] = [];
  for (const [index, message] of (messages as unknown[]).entries()) {
    const at = `messages[${index}]`;
    if (!isRecord(message)) return refuse(at, "must be an object");
    const content = await readContent(message["content"], `${at}.content`, context);
    const blocks = [{ type: "text" as const, text: content.text }, ...content.files, ...content.images];
    switch (message["role"]) {
      case "system":
      case "developer":
        system.push(content.text);
        break;
      case "user":
        conversation.push({ role: "user", content });
        break;
      case "assistant":
        conversation.push({
          role: "assistant",
          content: [...textOnly(content.text), ...callsOf(message, at)],
          timestamp,
        });
        break;
      case "tool": {
        const id = message["tool_call_id"];
        if (typeof id !== "string" || id === "") return refuse(`${at}.tool_call_id`, "must be the id of a tool call");
        conversation.push({
          role: "toolResult",
          toolCallId: id,
          toolName: "tool",
          content: blocks,
          isError: false,
          timestamp,
        });
        break;
      }
      default:
        return refuse(`${at}.role`, "must be system, developer, user, assistant or tool");
    }
  }
  return { conversation, system };
}

const isInput = (message: unknown): boolean =>
  isRecord(message) && (message["role"] === "user" || message["role"] === "tool");

const textOnly = (text: string): { readonly type: "text"; readonly text: string }[] =>
  text === "" ? [] : [{ type: "text", text }];

function callsOf(message: Body, at: string): ReturnType<typeof readCall>[] {
  const calls = message["tool_calls"] ?? [];
  if (!Array.isArray(calls)) return refuse(`${at}.tool_calls`, "must be a list");
  return (calls as unknown[]).map((call, index) => {
    const made = isRecord(call) && isRecord(call["function"]) ? call["function"] : {};
    return readCall(
      isRecord(call) ? call["id"] : undefined,
      made["name"],
      made["arguments"],
      `${at}.tool_calls[${index}]`,
    );
  });
}
