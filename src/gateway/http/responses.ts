// POST /v1/responses: an agent's turn as OpenAI's Responses API shapes it; tools the caller brings come back as calls.
import type { IncomingMessage, ServerResponse } from "node:http";

import { checker, describeIssues, Type } from "../../core/schema.ts";
import type { RunOutcome } from "../../core/event.ts";
import type { Block } from "../../core/message.ts";
import { newId } from "../../base/ids.ts";
import type { Agents } from "../../agent/agent.ts";
import type { TurnRequest } from "../../session/turns.ts";
import type { ModelTool } from "../../model/model.ts";
import { requireSend } from "../../session/send-policy.ts";
import type { GatewayContext } from "../context.ts";
import { sendError, sendJson } from "./answer.ts";
import { textOfContent } from "./chat-completions.ts";
import { failureStatus, readJson, runTurn, sendHouseError, turnSubject, wholeTurn } from "./openai-turn.ts";
import { openEventStream, type EventStream } from "./sse.ts";

const MAX_BODY = 20_000_000;

const record = Type.Record(Type.String(), Type.Unknown());
const requestChecker = checker(
  Type.Object(
    {
      model: Type.Optional(Type.String()),
      input: Type.Union([Type.String(), Type.Array(record)]),
      instructions: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      tools: Type.Optional(Type.Array(record, { maxItems: 128 })),
      tool_choice: Type.Optional(Type.Unknown()),
      stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
      max_output_tokens: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
      max_tool_calls: Type.Optional(Type.Unknown()),
      user: Type.Optional(Type.String()),
      reasoning: Type.Optional(Type.Unknown()),
      metadata: Type.Optional(Type.Unknown()),
      store: Type.Optional(Type.Unknown()),
      previous_response_id: Type.Optional(Type.Unknown()),
      truncation: Type.Optional(Type.Unknown()),
      temperature: Type.Optional(Type.Unknown()),
      top_p: Type.Optional(Type.Unknown()),
      parallel_tool_calls: Type.Optional(Type.Unknown()),
      include: Type.Optional(Type.Unknown()),
      text: Type.Optional(Type.Unknown()),
    },
    { additionalProperties: false },
  ),
);

export async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  context: GatewayContext,
  agents: Agents,
): Promise<void> {
  const raw = await readJson(request, response, MAX_BODY);
  if (raw === undefined) return;
  const issues = requestChecker.issues(raw);
  if (issues.length > 0) return sendError(response, 400, "invalid_request_error", describeIssues(issues.slice(0, 6)));
  const said = inputOf(raw["input"], raw["instructions"]);
  if (said === undefined)
    return sendError(
      response,
      400,
      "invalid_request_error",
      "input: there is no user message or function_call_output in it",
    );
  try {
    const { session } = turnSubject(request, raw, context);
    await requireSend(context.store.sessions, session, context.config());
    const clientTools = toolsOf(raw["tools"]);
    const turn: TurnRequest = {
      runId: newId(),
      sessionKey: session,
      ...said,
      source: "http",
      authorised: false,
      ...(clientTools.length === 0 ? {} : { clientTools }),
    };
    const head = {
      id: `resp_${turn.runId}`,
      object: "response",
      created_at: Math.floor(context.clock.now() / 1000),
      model: typeof raw["model"] === "string" ? raw["model"] : "openclaw",
    };
    if (raw["stream"] === true) return await stream(openEventStream(response), agents, turn, head);
    const outcome = await wholeTurn(response, agents, turn);
    if (outcome === undefined) return;
    sendJson(response, 200, {
      ...head,
      status: "completed",
      output: outputOf(outcome, turn.runId),
      usage: usageOf(outcome),
    });
  } catch (error) {
    sendHouseError(response, error, context);
  }
}

/** The documented order of events, numbered. */
async function stream(out: EventStream, agents: Agents, turn: TurnRequest, head: object): Promise<void> {
  let sequence = 0;
  const send = (type: string, body: object): void => out.send({ type, sequence_number: sequence++, ...body }, type);
  const started = { ...head, status: "in_progress", output: [] };
  const itemId = `msg_${turn.runId}`;
  const at = { item_id: itemId, output_index: 0, content_index: 0 };
  send("response.created", { response: started });
  send("response.in_progress", { response: started });
  let text = "";
  let open = false;
  const begin = (): void => {
    if (open) return;
    open = true;
    send("response.output_item.added", {
      output_index: 0,
      item: { type: "message", id: itemId, role: "assistant", status: "in_progress", content: [] },
    });
    send("response.content_part.added", { ...at, part: { type: "output_text", text: "", annotations: [] } });
  };
  const say = (delta: string): void => {
    begin();
    text += delta;
    send("response.output_text.delta", { ...at, delta });
  };
  const outcome = await runTurn(agents, turn, out.gone, ({ body }) => {
    if (body.stream === "assistant") say(body.delta);
  });
  const failure = failureStatus(outcome);
  if (failure !== undefined) {
    send("response.failed", {
      response: { ...head, status: "failed", output: [], error: { code: failure.code, message: failure.message } },
    });
    return out.done();
  }
  if (text === "" && outcome.text !== "" && !outcome.silent) say(outcome.text);
  const output = outputOf({ ...outcome, text: text === "" ? outcome.text : text }, turn.runId);
  if (open) {
    send("response.output_text.done", { ...at, text });
    send("response.content_part.done", { ...at, part: { type: "output_text", text, annotations: [] } });
    send("response.output_item.done", { output_index: 0, item: output[0] });
  }
  output.forEach((item, index) => {
    if ((item as { type: string }).type !== "function_call") return;
    send("response.output_item.added", {
      output_index: index,
      item: { ...item, status: "in_progress", arguments: "" },
    });
    send("response.function_call_arguments.done", {
      item_id: (item as { id: string }).id,
      output_index: index,
      arguments: (item as { arguments: string }).arguments,
    });
    send("response.output_item.done", { output_index: index, item });
  });
  send("response.completed", { response: { ...head, status: "completed", output, usage: usageOf(outcome) } });
  out.done();
}

function outputOf(outcome: RunOutcome, runId: string): object[] {
  const calls = (outcome.clientCalls ?? []).map(({ id, name, arguments: args }) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: args,
    status: "completed",
  }));
  if (calls.length > 0 && outcome.text === "") return calls;
  const text = outcome.silent ? "" : outcome.text;
  return [
    {
      type: "message",
      id: `msg_${runId}`,
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [] }],
      status: "completed",
    },
    ...calls,
  ];
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

interface Said {
  readonly text: string;
  readonly extraSystem?: string;
  readonly history?: TurnRequest["history"];
  readonly images?: TurnRequest["images"];
}

function inputOf(input: unknown, instructions: unknown): Said | undefined {
  const system = typeof instructions === "string" && instructions !== "" ? [instructions] : [];
  if (typeof input === "string") return input.trim() === "" ? undefined : { text: input, ...systemOf(system) };
  if (!Array.isArray(input)) return undefined;
  const items = input as Record<string, unknown>[];
  const turns = items.flatMap(toTurn);
  const last = turns.findLastIndex(({ role }) => role === "user");
  if (last < 0) return undefined;
  const said = turns[last];
  if (said === undefined || (said.text.trim() === "" && said.images.length === 0)) return undefined;
  const words = turns.filter(({ role }) => role === "system").map(({ text }) => text);
  const history = turns.slice(0, last).flatMap(({ role, text }) => (role === "system" ? [] : [{ role, text }]));
  return {
    text: said.text,
    ...systemOf([...system, ...words]),
    ...(history.length === 0 ? {} : { history }),
    ...(said.images.length === 0 ? {} : { images: said.images }),
  };
}

interface Turn {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
  readonly images: readonly Extract<Block, { type: "image" }>[];
}

function toTurn(item: Record<string, unknown>): Turn[] {
  const { type = "message", role, content, call_id: callId, output } = item;
  if (type === "function_call_output")
    return [
      {
        role: "user",
        text: `Result of your call ${String(callId)}:\n${typeof output === "string" ? output : JSON.stringify(output)}`,
        images: [],
      },
    ];
  if (type !== "message" || typeof role !== "string") return [];
  const text = textOfContent(content);
  if (role === "system" || role === "developer") return [{ role: "system", text, images: [] }];
  return role === "user" || role === "assistant" ? [{ role, text, images: imagesOf(content) }] : [];
}

/** Pictures given in the request itself; addresses are left to web_fetch and its guards. */
function imagesOf(content: unknown): Extract<Block, { type: "image" }>[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    const {
      type,
      source,
      image_url: url,
    } = part as { type?: string; source?: { type?: string; data?: string; media_type?: string }; image_url?: unknown };
    if (type !== "input_image") return [];
    if (source?.type === "base64" && source.data !== undefined)
      return [{ type: "image" as const, data: source.data, mimeType: source.media_type ?? "image/png" }];
    const inline = typeof url === "string" ? /^data:(image\/[a-z]+);base64,(.+)$/.exec(url) : null;
    return inline === null
      ? []
      : [{ type: "image" as const, mimeType: inline[1] ?? "image/png", data: inline[2] ?? "" }];
  });
}

const systemOf = (words: readonly string[]): { extraSystem?: string } =>
  words.length === 0 ? {} : { extraSystem: words.join("\n\n") };

/** Both published forms: nested under `function`, and flat. */
function toolsOf(tools: unknown): ModelTool[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const outer = tool as { type?: string; function?: Record<string, unknown> };
    if (outer.type !== "function") return [];
    const { name, description, parameters } = (outer.function ?? outer) as {
      name?: unknown;
      description?: unknown;
      parameters?: unknown;
    };
    if (typeof name !== "string" || !/^[\w-]{1,64}$/.test(name)) return [];
    return [
      {
        name,
        description: typeof description === "string" ? description : "",
        parameters: parameters ?? { type: "object", properties: {} },
      },
    ];
  });
}
