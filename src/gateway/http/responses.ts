// POST /v1/responses: runs an agent's turn in the shape of OpenAI's Responses API; the caller's tools are returned as calls.
import type { IncomingMessage, ServerResponse } from "node:http";

import type { RunOutcome } from "../../core/event.ts";
import type { ModelTool } from "../../model/model.ts";
import { requireSend } from "../../session/send-policy.ts";
import type { TurnRequest } from "../../session/turns.ts";
import type { GatewayContext } from "../context.ts";
import { sendJson } from "./answer.ts";
import {
  answerSettings,
  checkParameters,
  chooseTools,
  clientTools,
  jsonFormat,
  optionalFlag,
  optionalNumber,
  optionalRecord,
  optionalText,
  refuse,
  thinkingOf,
  type Body,
  type KnownParameters,
} from "./openai-request.ts";
import {
  failureStatus,
  newTurn,
  readJson,
  requireCalls,
  runTurn,
  sendFailure,
  textFollower,
  turnTarget,
  turnInput,
  wholeTurn,
  type OpenAIDeps,
} from "./openai-turn.ts";
import { readInput } from "./response-input.ts";
import {
  findResponse,
  forgetResponse,
  keepResponse,
  runIdOf,
  sessionAfter,
  unknownResponse,
} from "./response-records.ts";
import { openEventStream } from "./sse.ts";

const parameters: KnownParameters = {
  taken: new Set(
    (
      "model input instructions stream user tools tool_choice parallel_tool_calls max_output_tokens max_tool_calls " +
      "temperature top_p text reasoning previous_response_id store metadata truncation include stream_options " +
      // These control how the vendor bills and caches; here the gateway decides that.
      "service_tier safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention"
    ).split(" "),
  ),
  neutral: { background: false, top_logprobs: 0, conversation: null, prompt: null, context_management: [] },
};

/** The turn of a request, and the fields that its response repeats. */
interface Asked {
  readonly turn: TurnRequest;
  readonly head: Readonly<Record<string, unknown>>;
  readonly isStored: boolean;
}

export async function respond(request: IncomingMessage, response: ServerResponse, deps: OpenAIDeps): Promise<void> {
  const { context, agents } = deps;
  const { maxBodyBytes = 20_000_000 } = context.config().gateway?.http?.endpoints?.responses ?? {};
  const body = await readJson(request, response, maxBodyBytes);
  if (body === undefined) return;
  try {
    const asked = await readRequest(request, body, deps);
    if (optionalFlag(body, "stream") === true) return await stream(response, asked, deps);
    const outcome = await wholeTurn(response, agents, asked.turn);
    if (outcome === undefined) return;
    await keep(asked, outcome, context);
    sendJson(response, 200, responseOf(asked.head, outcome));
  } catch (error) {
    sendFailure(response, error, context);
  }
}

/** GET and DELETE /v1/responses/{id}. */
export async function serveResponse(
  request: IncomingMessage,
  response: ServerResponse,
  deps: OpenAIDeps,
  id: string,
): Promise<void> {
  const { context } = deps;
  try {
    const record = await findResponse(id, await turnTarget(request, {}, deps), context);
    if (record === undefined) throw unknownResponse(id);
    if (request.method === "DELETE") {
      await forgetResponse(id, context);
      return sendJson(response, 200, { id, object: "response", deleted: true });
    }
    const entry = await context.store.inbox.get(runIdOf(id) ?? "");
    if (entry?.result === undefined) throw unknownResponse(id);
    sendJson(response, 200, responseOf(record.head, entry.result as RunOutcome));
  } catch (error) {
    sendFailure(response, error, context);
  }
}

async function readRequest(request: IncomingMessage, body: Body, deps: OpenAIDeps): Promise<Asked> {
  const { context } = deps;
  checkParameters(body, parameters);
  requireIncludes(body["include"]);
  const target = await turnTarget(request, body, deps);
  const previous = optionalText(body, "previous_response_id");
  const isStored = optionalFlag(body, "store") ?? true;
  const { conversation, system } = await readInput(body["input"], target, context);
  const words = turnInput(conversation, "input", context.clock.now());
  const own = clientTools(body["tools"], () => context.catalog.offered(target.subject));
  const parts = {
    words,
    system: [optionalText(body, "instructions") ?? "", ...system],
    chosen: chooseTools(body["tool_choice"], own),
    isKept: target.isNamed || isStored,
    settings: { ...answerSettings(body, ["max_output_tokens"]), ...jsonFormat(formatOf(body), "text.format") },
    ...thinkingOf(optionalRecord(body, "reasoning")?.["effort"], "reasoning.effort"),
  };
  const maxToolCalls = optionalNumber(body, "max_tool_calls", { min: 0, max: 1000, whole: true });
  const repeated = repeatedOf(body, parts.chosen.tools, isStored);
  // Last, because it may copy a session, which a rejected request must not do.
  const session = previous === undefined ? target.subject.session : await sessionAfter(previous, target, context);
  const goingOn = { ...target, subject: { ...target.subject, session } };
  await requireCalls(conversation, goingOn, context, "input");
  await requireSend(context.store.sessions, session, context.config());
  const turn: TurnRequest = {
    ...newTurn({ ...parts, target: goingOn }),
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
  };
  const created_at = Math.floor(context.clock.now() / 1000);
  return { turn, isStored, head: { id: `resp_${turn.runId}`, object: "response", created_at, ...repeated } };
}

/** Accepts only values that add output of hosted tools or reasoning, which do not exist here; rejects log probabilities. */
function requireIncludes(include: unknown): void {
  if (include === undefined || include === null) return;
  if (!Array.isArray(include) || include.some((one) => typeof one !== "string"))
    refuse("include", "must be a list of strings");
  if ((include as string[]).some((one) => one.includes("logprobs")))
    refuse("include", "log probabilities are not supported", "unsupported_parameter");
}

function formatOf(body: Body): Body | undefined {
  const text = optionalRecord(body, "text");
  const verbosity = text?.["verbosity"] ?? "medium";
  if (verbosity !== "medium") refuse("text.verbosity", "this parameter is not supported", "unsupported_parameter");
  return text === undefined ? undefined : optionalRecord(text, "format");
}

/** The fields of the request that a response repeats. */
function repeatedOf(body: Body, tools: readonly ModelTool[], isStored: boolean): Asked["head"] {
  const text = optionalRecord(body, "text") ?? {};
  const truncation = body["truncation"] ?? "disabled";
  if (truncation !== "auto" && truncation !== "disabled") refuse("truncation", "must be auto or disabled");
  return {
    model: optionalText(body, "model") ?? "openclaw",
    background: false,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    metadata: optionalRecord(body, "metadata") ?? {},
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: body["previous_response_id"] ?? null,
    reasoning: { effort: null, summary: null, ...optionalRecord(body, "reasoning") },
    store: isStored,
    temperature: body["temperature"] ?? null,
    text: { format: { type: "text" }, ...text },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: tools.map(toolOf),
    top_p: body["top_p"] ?? null,
    truncation,
    ...(typeof body["user"] === "string" ? { user: body["user"] } : {}),
  };
}

function toolOf({ name, description, parameters: schema, strict }: ModelTool): object {
  return { type: "function", name, description, parameters: schema, strict: strict === true };
}

async function keep({ isStored, head }: Asked, outcome: RunOutcome, context: GatewayContext): Promise<void> {
  if (isStored) await keepResponse(context, outcome, head);
}

/** Sends the documented events in order, numbered. */
async function stream(response: ServerResponse, asked: Asked, { context, agents }: OpenAIDeps): Promise<void> {
  const { turn, head } = asked;
  const out = openEventStream(response);
  let sequence = 0;
  const send = (type: string, body: object): void => out.send({ type, sequence_number: sequence++, ...body }, type);
  const started = { ...head, status: "in_progress", error: null, incomplete_details: null, output: [], usage: null };
  const at = { item_id: `msg_${turn.runId}`, output_index: 0, content_index: 0 };
  send("response.created", { response: started });
  send("response.in_progress", { response: started });
  let text = "";
  const say = (delta: string): void => {
    if (text === "") {
      send("response.output_item.added", {
        output_index: 0,
        item: { ...messageItem(turn.runId, ""), status: "in_progress", content: [] },
      });
      send("response.content_part.added", { ...at, part: textPart("") });
    }
    text += delta;
    send("response.output_text.delta", { ...at, delta, logprobs: [] });
  };
  const outcome = await runTurn(agents, turn, out.gone, textFollower(say));
  const failure = failureStatus(outcome);
  if (failure !== undefined) {
    const error = { code: failure.status === 429 ? "rate_limit_exceeded" : "server_error", message: failure.message };
    send("response.failed", { response: { ...started, status: "failed", error } });
    return out.done();
  }
  if (text === "" && outcome.text !== "" && !outcome.silent) say(outcome.text);
  await keep(asked, outcome, context);
  const whole = responseOf(head, text === "" ? outcome : { ...outcome, text, silent: false });
  if (text !== "") {
    send("response.output_text.done", { ...at, text, logprobs: [] });
    send("response.content_part.done", { ...at, part: textPart(text) });
    send("response.output_item.done", { output_index: 0, item: whole.output[0] });
  }
  for (const [index, item] of whole.output.entries()) if (item.type === "function_call") sendCall(send, index, item);
  send(`response.${whole.status}`, { response: whole });
  out.done();
}

function sendCall(send: (type: string, body: object) => void, index: number, item: CallItem): void {
  const at = { item_id: item.id, output_index: index };
  send("response.output_item.added", { output_index: index, item: { ...item, status: "in_progress", arguments: "" } });
  send("response.function_call_arguments.delta", { ...at, delta: item.arguments });
  send("response.function_call_arguments.done", { ...at, name: item.name, arguments: item.arguments });
  send("response.output_item.done", { output_index: index, item });
}

interface CallItem {
  readonly type: "function_call";
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly status: string;
}

interface Whole {
  readonly status: "completed" | "incomplete";
  readonly output: readonly (CallItem | ReturnType<typeof messageItem>)[];
}

function responseOf(head: Asked["head"], outcome: RunOutcome): Whole {
  const { runId, clientCalls = [], cut, text, silent } = outcome;
  const calls = clientCalls.map(({ id, name, arguments: args }, index): CallItem => ({
    type: "function_call",
    id: `fc_${runId}_${index}`,
    call_id: id,
    name,
    arguments: args,
    status: "completed",
  }));
  const reason = cut === "length" ? "max_output_tokens" : cut === "refusal" ? "content_filter" : undefined;
  const isWhole = reason === undefined || calls.length > 0;
  const message = messageItem(runId, silent ? "" : text);
  return {
    ...head,
    status: isWhole ? "completed" : "incomplete",
    error: null,
    incomplete_details: isWhole ? null : { reason },
    output: calls.length > 0 && text === "" ? calls : [message, ...calls],
    usage: usageOf(outcome),
  } as Whole;
}

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] }) as const;

function messageItem(runId: string, text: string) {
  const type = "message" as const;
  return { type, id: `msg_${runId}`, role: "assistant", content: [textPart(text)], status: "completed" };
}

function usageOf({ usage }: RunOutcome): object {
  const input = (usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
  const output = usage?.output ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage?.cacheRead ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}
