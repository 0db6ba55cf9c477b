// Parses the `input` of POST /v1/responses: a text, or items in order, as a conversation.
import type { RunOutcome } from "../../core/event.ts";
import type { AssistantMessage } from "../../core/message.ts";
import { isRecord } from "../../core/record.ts";
import type { GatewayContext } from "../context.ts";
import { readContent } from "./openai-content.ts";
import { readCall, type InputMessage, type Target } from "./openai-turn.ts";
import { refuse, type Body } from "./openai-request.ts";
import { findResponse } from "./response-records.ts";

export interface Input {
  readonly conversation: readonly InputMessage[];
  readonly system: readonly string[];
}

export async function readInput(input: unknown, target: Target, context: GatewayContext): Promise<Input> {
  if (typeof input === "string")
    return { conversation: [{ role: "user", content: { text: input, images: [], files: [] } }], system: [] };
  if (!Array.isArray(input) || input.length === 0) return refuse("input", "must be a string or a list of items");
  const conversation: InputMessage[] = [];
  const system: string[] = [];
  for (const [index, item] of (input as unknown[]).entries()) {
    const at = `input[${index}]`;
    if (!isRecord(item)) return refuse(at, "must be an object");
    const read = await readItem(item, at, target, context);
    if (typeof read === "string") system.push(read);
    else if (read?.role === "assistant") joinAnswer(conversation, read);
    else if (read !== undefined) conversation.push(read);
  }
  return { conversation, system };
}

/** Text for the system prompt, a message, or undefined for items that other models cannot read. */
async function readItem(
  item: Body,
  at: string,
  target: Target,
  context: GatewayContext,
): Promise<InputMessage | string | undefined> {
  const timestamp = context.clock.now();
  const { type = "message", role, call_id: callId } = item;
  if (type === "reasoning") return undefined;
  if (type === "item_reference") return referenced(item["id"], at, target, context);
  if (type === "function_call")
    return { role: "assistant", content: [readCall(callId, item["name"], item["arguments"], at)], timestamp };
  if (type === "function_call_output") {
    if (typeof callId !== "string" || callId === "") return refuse(`${at}.call_id`, "must be the id of a call");
    const output = item["output"];
    const { text, files, images } = await readContent(output, `${at}.output`, context);
    const content = [{ type: "text" as const, text }, ...files, ...images];
    return { role: "toolResult", toolCallId: callId, toolName: "tool", content, isError: false, timestamp };
  }
  if (type !== "message") return refuse(`${at}.type`, `"${String(type)}" is not supported`, "unsupported_value");
  const content = await readContent(item["content"], `${at}.content`, context);
  if (role === "system" || role === "developer") return content.text;
  if (role === "user") return { role, content };
  if (role !== "assistant") return refuse(`${at}.role`, "must be user, assistant, system or developer");
  return { role, content: content.text === "" ? [] : [{ type: "text", text: content.text }], timestamp };
}

/** Text and calls of one reply are several items and become one message. */
function joinAnswer(conversation: InputMessage[], next: AssistantMessage): void {
  const last = conversation.at(-1);
  const isCall = next.content.some(({ type }) => type === "toolCall");
  if (last?.role === "assistant" && (isCall || !last.content.some(({ type }) => type === "toolCall")))
    conversation[conversation.length - 1] = { ...last, content: [...last.content, ...next.content] };
  else if (next.content.length > 0) conversation.push(next);
}

/** An item of an earlier response, by its id. */
async function referenced(
  id: unknown,
  at: string,
  target: Target,
  context: GatewayContext,
): Promise<InputMessage | undefined> {
  const parts = /^(msg|fc|rs)_([\w-]+?)(?:_(\d+))?$/.exec(typeof id === "string" ? id : "");
  if (parts?.[1] === "rs") return undefined;
  const runId = parts?.[2] ?? "";
  const record = await findResponse(`resp_${runId}`, target, context);
  const outcome =
    record === undefined ? undefined : ((await context.store.inbox.get(runId))?.result as RunOutcome | undefined);
  const timestamp = context.clock.now();
  if (parts?.[1] === "msg" && outcome !== undefined)
    return { role: "assistant", content: [{ type: "text", text: outcome.text }], timestamp };
  const call = outcome?.clientCalls?.[Number(parts?.[3])];
  if (call === undefined) return refuse(at, `no item with id "${String(id)}" is stored`, "item_not_found");
  return { role: "assistant", content: [readCall(call.id, call.name, call.arguments, at)], timestamp };
}
