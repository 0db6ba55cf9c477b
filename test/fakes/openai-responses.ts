// The Responses API of the OpenAI stand-in: typed events, items by index, and the shape checks of its input.
import { checkChoice, isRecord } from "./openai-request.ts";
import { pieces, type Answer, type Part, type Reply } from "./reply.ts";
import { eventStream, json, type FakeRequest, type Performance } from "./server.ts";
import { tokensIn, type Counted } from "./usage.ts";

export function playResponses(
  reply: Reply,
  request: FakeRequest,
  count: (prompt: string) => Counted,
): Performance | "hang" | "drop" {
  const wrong = checkInput(request.body["input"]) ?? checkChoice(request.body, ({ name }) => name, "tools");
  if (wrong !== undefined) return json(400, problem(wrong, "invalid_request_error"));
  if (reply.kind === "fail") return json(reply.status, reply.body ?? problem(`status ${reply.status}`), reply.headers);
  if (reply.kind === "hang") return reply.when === "before" ? "hang" : stream([], "stay");
  if (reply.kind === "drop" && reply.when === "before") return "drop";
  const counted = count(JSON.stringify(request.body["input"]));
  const head = responseHead(request);
  if (request.body["stream"] !== true) return json(200, finished(head, reply, counted));
  return playStream(reply, head, counted);
}

function playStream(reply: Reply, head: object, counted: Counted): Performance {
  const frame = frameMaker();
  const begin = [
    frame("response.created", { response: { ...head, status: "in_progress", output: [] } }),
    frame("response.in_progress", { response: { ...head, status: "in_progress", output: [] } }),
  ];
  const textStart = (): string[] => [
    frame("response.output_item.added", { output_index: 0, item: messageItem("msg_0", [], "in_progress") }),
  ];
  const delta = (text: string): string =>
    frame("response.output_text.delta", {
      item_id: "msg_0",
      output_index: 0,
      content_index: 0,
      delta: text,
      logprobs: [],
    });
  if (reply.kind === "drip")
    return { ...stream([...begin, ...textStart(), delta(".")], "repeat"), delayMs: reply.everyMs };
  if (reply.kind === "garbage")
    return stream([...begin, "data: {this is not json\n\n", "data: \u0000\u0001\n\n"], "end");
  if (reply.kind === "drop") return stream([...begin, ...textStart(), delta("half an ans")], "cut");
  if (reply.kind === "late-fail") {
    const failure = { ...head, status: "failed", error: { code: reply.type, message: reply.message } };
    const said = reply.text === "" ? [] : [...textStart(), delta(reply.text)];
    return stream([...begin, ...said, frame("response.failed", { response: failure })], "end");
  }
  if (reply.kind === "half-call") {
    const part: Part = { type: "call", id: "call_half", name: reply.name, arguments: reply.text };
    const frames = itemFrames(part, 0, frame);
    if (reply.ends === "cut") return stream([...begin, ...frames.slice(0, 2)], "cut");
    return stream([...begin, ...frames, completed(frame, head, [part], "tool", counted)], "end");
  }
  const answer: Answer = reply.kind === "answer" ? reply : { kind: "answer", parts: [], finish: "stop", delayMs: 0 };
  const items = answer.parts.flatMap((part, index) => itemFrames(part, index, frame, answer.finish === "refusal"));
  return {
    ...stream([...begin, ...items, completed(frame, head, answer.parts, answer.finish, counted)], "end"),
    delayMs: answer.delayMs,
    ...(answer.shredBytes === undefined ? {} : { shredBytes: answer.shredBytes }),
  };
}

type Frame = (type: string, fields: object) => string;

function frameMaker(): Frame {
  let sequence = 0;
  return (type, fields) => {
    sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`;
  };
}

function itemFrames(part: Part, index: number, frame: Frame, refused = false): string[] {
  if (part.type === "call") return callFrames(part, index, frame);
  if (part.type === "thinking") return thinkingFrames(part.text, index, frame);
  const id = `msg_${index}`;
  const place = { item_id: id, output_index: index, content_index: 0 };
  const kind = refused ? "refusal" : "output_text";
  const whole = refused ? { type: kind, refusal: part.text } : outputText(part.text);
  return [
    frame("response.output_item.added", { output_index: index, item: messageItem(id, [], "in_progress") }),
    frame("response.content_part.added", { ...place, part: refused ? { type: kind, refusal: "" } : outputText("") }),
    ...pieces(part.text, part.chunks).map((delta) =>
      frame(`response.${kind}.delta`, { ...place, delta, logprobs: [] }),
    ),
    frame(`response.${kind}.done`, { ...place, [refused ? "refusal" : "text"]: part.text, logprobs: [] }),
    frame("response.content_part.done", { ...place, part: whole }),
    frame("response.output_item.done", { output_index: index, item: messageItem(id, [whole], "completed") }),
  ];
}

function callFrames(part: Extract<Part, { type: "call" }>, index: number, frame: Frame): string[] {
  const item = callItem(part, index);
  const place = { item_id: item["id"], output_index: index };
  return [
    frame("response.output_item.added", {
      output_index: index,
      item: { ...item, arguments: "", status: "in_progress" },
    }),
    ...pieces(part.arguments, 3).map((delta) => frame("response.function_call_arguments.delta", { ...place, delta })),
    frame("response.function_call_arguments.done", { ...place, arguments: part.arguments }),
    frame("response.output_item.done", { output_index: index, item }),
  ];
}

function thinkingFrames(text: string, index: number, frame: Frame): string[] {
  const id = `rs_${index}`;
  const place = { item_id: id, output_index: index, summary_index: 0 };
  const summary = { type: "summary_text", text };
  return [
    frame("response.output_item.added", {
      output_index: index,
      item: { id, type: "reasoning", summary: [], encrypted_content: null },
    }),
    frame("response.reasoning_summary_part.added", { ...place, part: { type: "summary_text", text: "" } }),
    ...pieces(text, 2).map((delta) => frame("response.reasoning_summary_text.delta", { ...place, delta })),
    frame("response.reasoning_summary_text.done", { ...place, text }),
    frame("response.reasoning_summary_part.done", { ...place, part: summary }),
    frame("response.output_item.done", { output_index: index, item: reasoningItem(id, text) }),
  ];
}

function completed(frame: Frame, head: object, parts: readonly Part[], finish: string, counted: Counted): string {
  const type = finish === "length" ? "response.incomplete" : "response.completed";
  return frame(type, { response: wholeResponse(head, parts, finish, counted) });
}

function finished(head: object, reply: Reply, counted: Counted): object {
  if (reply.kind === "answer") return wholeResponse(head, reply.parts, reply.finish, counted);
  return wholeResponse(head, [], "stop", counted);
}

function wholeResponse(head: object, parts: readonly Part[], finish: string, { input, cached }: Counted): object {
  const output = parts.map((part, index) => {
    if (part.type === "call") return callItem(part, index);
    if (part.type === "thinking") return reasoningItem(`rs_${index}`, part.text);
    const content = finish === "refusal" ? { type: "refusal", refusal: part.text } : outputText(part.text);
    return messageItem(`msg_${index}`, [content], "completed");
  });
  const said = tokensIn(parts.map((part) => (part.type === "call" ? part.arguments : part.text)).join(""));
  return {
    ...head,
    status: finish === "length" ? "incomplete" : "completed",
    incomplete_details: finish === "length" ? { reason: "max_output_tokens" } : null,
    output,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: said,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + said,
    },
  };
}

function responseHead(request: FakeRequest): object {
  const model = request.body["model"];
  return {
    id: "resp_stand_in",
    object: "response",
    created_at: 1_760_000_000,
    model,
    error: null,
    service_tier: "default",
  };
}

const outputText = (text: string): object => ({ type: "output_text", text, annotations: [], logprobs: [] });
const messageItem = (id: string, content: object[], status: string): object => ({
  id,
  type: "message",
  role: "assistant",
  content,
  status,
});
const reasoningItem = (id: string, text: string): object => ({
  id,
  type: "reasoning",
  summary: [{ type: "summary_text", text }],
  encrypted_content: `sealed:${Buffer.from(text).toString("base64")}`,
});

function callItem(part: Extract<Part, { type: "call" }>, index: number): Record<string, string> {
  const { id, name, arguments: text } = part;
  return { id: `fc_${index}_${id}`, type: "function_call", call_id: id, name, arguments: text, status: "completed" };
}

function checkInput(input: unknown): string | undefined {
  if (typeof input === "string") return undefined;
  if (!Array.isArray(input) || input.length === 0) return "Missing required parameter: 'input'.";
  const open = new Set<string>();
  for (const [at, item] of (input as unknown[]).entries()) {
    if (!isRecord(item)) return `Invalid input[${at}]`;
    const type = item["type"] ?? "message";
    if (type === "function_call") open.add(String(item["call_id"]));
    else if (type === "function_call_output") {
      if (!open.delete(String(item["call_id"])))
        return `No tool call found for function call output with call_id ${String(item["call_id"])}.`;
    } else if (type === "message") {
      if (!["user", "assistant", "system", "developer"].includes(String(item["role"])))
        return `Invalid value: '${String(item["role"])}' for input[${at}].role`;
    } else if (type !== "reasoning" && type !== "item_reference")
      return `Invalid value: '${JSON.stringify(type)}' for input[${at}].type`;
  }
  return open.size === 0 ? undefined : `No tool output found for function call ${[...open].join(", ")}.`;
}

function problem(message: string, type = "server_error"): unknown {
  return { error: { message, type, param: null, code: null } };
}

function stream(frames: readonly string[], after: Performance["after"]): Performance {
  return { status: 200, headers: eventStream, frames, after };
}
