// Translates a conversation for the vendors' packages: completes call and result pairs, adapts ids, places images.
import type {
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";

import type { AssistantMessage, Block, Message, ToolCallBlock, ToolResultMessage } from "../core/message.ts";
import type { ModelFacts, ModelRequest, ModelTool } from "./model.ts";
import { usableReplay, type Replay } from "./replay.ts";
import type { Dialect } from "./wire.ts";

export interface Target {
  readonly dialect: Dialect;
  readonly modelId: string;
  readonly facts: ModelFacts;
}

export function toPrompt({ system, messages }: ModelRequest, target: Target): LanguageModelV4Prompt {
  const turns = mergeUsers(startWithUser(toTurns(messages, target), target), target);
  const head: LanguageModelV4Message[] = system === "" ? [] : [{ role: "system", content: system.toWellFormed() }];
  return markForCache([...head, ...turns], target.dialect.cacheMarks);
}

export function toTools(tools: readonly ModelTool[]): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, parameters, strict }) => ({
    type: "function",
    name,
    description,
    inputSchema: parameters as LanguageModelV4FunctionTool["inputSchema"],
    ...(strict === undefined ? {} : { strict }),
  }));
}

/** Whether the open calls have reasoning that can be replayed; without it some vendors reject reasoning. */
export function canThink(messages: readonly Message[], { dialect, modelId }: Target): boolean {
  if (dialect.thinkingNeedsReplay !== true) return true;
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(lastUser + 1).every((message) => {
    if (message.role !== "assistant" || !message.content.some(({ type }) => type === "toolCall")) return true;
    return usableReplay(message.replay, dialect.name, modelId)?.parts.some(({ type }) => type === "thinking") === true;
  });
}

function toTurns(messages: readonly Message[], target: Target): LanguageModelV4Message[] {
  const used = new Set<string>();
  const turns: LanguageModelV4Message[] = [];
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at];
    if (message?.role === "user") turns.push({ role: "user", content: userParts(message.content, target) });
    if (message?.role !== "assistant") continue;
    const results = resultsAfter(messages, at);
    turns.push(...assistantTurn(message, results, used, target));
  }
  return turns;
}

/** Results before the next answer of the model; results without a call are left out. */
function resultsAfter(messages: readonly Message[], at: number): ToolResultMessage[] {
  const found: ToolResultMessage[] = [];
  for (let next = at + 1; next < messages.length; next += 1) {
    const message = messages[next];
    if (message === undefined || message.role === "assistant") break;
    if (message.role === "toolResult") found.push(message);
  }
  return found;
}

function assistantTurn(
  message: AssistantMessage,
  results: readonly ToolResultMessage[],
  used: Set<string>,
  target: Target,
): LanguageModelV4Message[] {
  const open = [...results];
  const pairs = message.content.flatMap((block) => {
    if (block.type !== "toolCall") return [];
    const found = open.findIndex(({ toolCallId }) => toolCallId === block.id);
    const result = found < 0 ? undefined : open.splice(found, 1)[0];
    return [{ call: block, id: freshId(target.dialect.callId(block.id), used, target), result }];
  });
  const content = assistantParts(message, new Map(pairs.map(({ call, id }) => [call, id])), target);
  if (content.length === 0) return [];
  const turn: LanguageModelV4Message = { role: "assistant", content };
  if (pairs.length === 0) return [turn];
  const parts = pairs.map(({ call, id, result }) => resultPart(call, id, result, target));
  const pictures = target.dialect.imagesInResults
    ? []
    : pairs.flatMap(({ call, result }) => picturesOf(call, result, target));
  const shown: LanguageModelV4Message[] = pictures.length === 0 ? [] : [{ role: "user", content: pictures }];
  return [turn, { role: "tool", content: parts }, ...shown];
}

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

function assistantParts(
  message: AssistantMessage,
  ids: ReadonlyMap<ToolCallBlock, string>,
  target: Target,
): AssistantPart[] {
  const replay = usableReplay(message.replay, target.dialect.name, target.modelId);
  const texts = message.content.flatMap((block) =>
    block.type === "text" && block.text !== "" ? [block.text.toWellFormed()] : [],
  );
  const calls = message.content.filter((block) => block.type === "toolCall");
  if (replay === undefined) {
    return [...texts.map((text) => textPart(text)), ...calls.map((call) => callPart(call, ids.get(call) ?? call.id))];
  }
  return replayedParts(replay, texts, calls, ids);
}

/** In the vendor's order. Joined text takes the position of its first part. */
function replayedParts(
  replay: Replay,
  texts: readonly string[],
  calls: readonly ToolCallBlock[],
  ids: ReadonlyMap<ToolCallBlock, string>,
): AssistantPart[] {
  const slots = replay.parts.filter(({ type }) => type === "text").length;
  const left = slots === texts.length ? [...texts] : [texts.join("\n")].filter((text) => text !== "");
  const waiting = [...calls];
  const parts = replay.parts.flatMap((part): AssistantPart[] => {
    if (part.type === "thinking")
      return [{ type: "reasoning", text: part.text.toWellFormed(), ...withOptions(part.options) }];
    if (part.type === "text") return left.splice(0, 1).map((text) => textPart(text, part.options));
    const found = waiting.findIndex(({ id }) => id === part.id);
    const call = found < 0 ? undefined : waiting.splice(found, 1)[0];
    return call === undefined ? [] : [callPart(call, ids.get(call) ?? call.id, part.options)];
  });
  return [
    ...parts,
    ...left.map((text) => textPart(text)),
    ...waiting.map((call) => callPart(call, ids.get(call) ?? call.id)),
  ];
}

function textPart(text: string, options?: SharedV4ProviderOptions): LanguageModelV4TextPart {
  return { type: "text", text, ...withOptions(options) };
}

function callPart(
  { name, arguments: input }: ToolCallBlock,
  toolCallId: string,
  options?: SharedV4ProviderOptions,
): AssistantPart {
  return { type: "tool-call", toolCallId, toolName: name, input, ...withOptions(options) };
}

function resultPart(
  { name }: ToolCallBlock,
  toolCallId: string,
  result: ToolResultMessage | undefined,
  { dialect, facts }: Target,
): LanguageModelV4ToolResultPart {
  const head = { type: "tool-result", toolCallId, toolName: name } as const;
  if (result === undefined) return { ...head, output: { type: "error-text", value: unanswered } };
  const text = resultText(result);
  const pictures = result.content.filter((block) => block.type === "image");
  if (pictures.length === 0 || !dialect.imagesInResults || !facts.input.includes("image")) {
    return { ...head, output: { type: result.isError ? "error-text" : "text", value: text } };
  }
  const files = pictures.map(({ data, mimeType }) => ({
    type: "file" as const,
    data: { type: "data" as const, data },
    mediaType: mimeType,
  }));
  return { ...head, output: { type: "content", value: [{ type: "text", text }, ...files] } };
}

const unanswered = "Error: no result: the run ended before this tool answered.";

/** Never empty, because several vendors reject empty results. The text names a failure, because only some vendors can mark one. */
function resultText({ content, isError }: ToolResultMessage): string {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text.toWellFormed()] : [])).join("\n");
  if (isError) return text === "" ? "Error: the tool failed without a message" : `Error: ${text}`;
  if (text !== "") return text;
  return content.some(({ type }) => type === "image") ? "(a picture)" : "(no output)";
}

function picturesOf({ name }: ToolCallBlock, result: ToolResultMessage | undefined, target: Target): UserPart[] {
  const pictures = result?.content.filter((block) => block.type === "image") ?? [];
  if (pictures.length === 0) return [];
  return userParts([{ type: "text", text: `Picture from the tool ${name}:` }, ...pictures], target);
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

function userParts(content: readonly Block[], { facts }: Target): UserPart[] {
  const parts = content.flatMap((block): UserPart[] => {
    if (block.type === "text") return block.text === "" ? [] : [textPart(block.text.toWellFormed())];
    if (!facts.input.includes("image")) return [textPart("[picture left out: this model does not take pictures]")];
    return [{ type: "file", data: { type: "data", data: block.data }, mediaType: block.mimeType }];
  });
  return parts.length === 0 ? [textPart("(empty message)")] : parts;
}

/** Models repeat ids and vendors reject repeated ones: the second gets a number. */
function freshId(wanted: string, used: Set<string>, { dialect }: Target): string {
  let id = wanted;
  for (let count = 2; used.has(id); count += 1) id = dialect.callId(`${wanted.slice(0, 58)}_${count}`);
  used.add(id);
  return id;
}

function startWithUser(turns: LanguageModelV4Message[], { dialect }: Target): LanguageModelV4Message[] {
  if (!dialect.userFirst || turns[0]?.role === "user") return turns;
  return [{ role: "user", content: [textPart("(the conversation goes on)")] }, ...turns];
}

function mergeUsers(turns: LanguageModelV4Message[], { dialect }: Target): LanguageModelV4Message[] {
  if (!dialect.mergeUsers) return turns;
  const merged: LanguageModelV4Message[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (turn.role === "user" && last?.role === "user")
      merged[merged.length - 1] = { role: "user", content: [...last.content, ...turn.content] };
    else merged.push(turn);
  }
  return merged;
}

/** Cache marks after the system text and on the last two turns, so that the cached prefix grows by a turn. */
function markForCache(prompt: LanguageModelV4Prompt, name: string | undefined): LanguageModelV4Prompt {
  if (name === undefined) return prompt;
  const marks = new Set([
    prompt.length - 1,
    prompt.findLastIndex(({ role }, at) => role === "user" && at < prompt.length - 1),
  ]);
  return prompt.map((message, at) => {
    if (message.role !== "system" && !marks.has(at)) return message;
    return { ...message, providerOptions: { [name]: { cacheControl: { type: "ephemeral" } } } };
  });
}

function withOptions(options: SharedV4ProviderOptions | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return options === undefined ? {} : { providerOptions: options };
}
