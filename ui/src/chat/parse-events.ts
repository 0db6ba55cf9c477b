// Parses messages and run events that come over the wire.
import { textOf as textAt } from "../credential.ts";
import type { Block } from "../../../src/core/message.ts";
import type { ToolOutcome } from "../../../src/protocol/methods/tools.ts";

export type Content =
  | Block
  | { readonly type: "toolCall"; readonly id: string; readonly name: string; readonly arguments?: unknown }
  /** Blocks of later releases; they are not drawn. */
  | { readonly type: "other" };

export interface Usage {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly totalTokens?: number;
}

export interface ChatMessage {
  readonly role: "user" | "assistant" | "toolResult";
  readonly content: readonly Content[];
  readonly timestamp: number;
  /** Where a user message comes from that no person typed (src/core/turn-source.ts). */
  readonly source?: string;
  /** Only for chat commands and their answers. */
  readonly runId?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: Usage;
  readonly stopReason?: string;
  readonly errorMessage?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly details?: unknown;
  readonly isError?: boolean;
}

export interface History {
  readonly messages: readonly ChatMessage[];
  readonly thinkingLevel?: string;
}

interface EventFacts {
  readonly runId: string;
  readonly sessionKey: string;
  /** Counts within the run. */
  readonly seq: number;
}

export type RunChange =
  | { readonly kind: "start" }
  /** The whole current reply so far. `source` is one of the two streams that carry the same text. */
  | { readonly kind: "text"; readonly source: "agent" | "chat"; readonly text: string }
  | { readonly kind: "tool-start"; readonly id: string; readonly name: string; readonly args: unknown }
  | { readonly kind: "tool-update"; readonly id: string; readonly name: string; readonly partial: ToolOutcome }
  | {
      readonly kind: "tool-result";
      readonly id: string;
      readonly name: string;
      readonly isError: boolean;
      readonly result: ToolOutcome;
    }
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "final"; readonly message: ChatMessage | undefined }
  | { readonly kind: "aborted" }
  | { readonly kind: "error"; readonly message: string; readonly hint: string | undefined };

export interface RunEvent extends EventFacts {
  readonly change: RunChange;
}

/** Undefined for events that this page does not draw. */
export function readChatEvent(payload: unknown): RunEvent | undefined {
  const facts = factsOf(payload);
  if (facts === undefined) return undefined;
  const message = toMessage(at(payload, "message"));
  const state = at(payload, "state");
  if (state === "delta") {
    if (message === undefined) return undefined;
    return { ...facts, change: { kind: "text", source: "chat", text: textOfContent(message.content) } };
  }
  if (state === "final") return { ...facts, change: { kind: "final", message } };
  if (state === "aborted") return { ...facts, change: { kind: "aborted" } };
  if (state !== "error") return undefined;
  const errorText = textAt(payload, "errorMessage") ?? "The run failed; the gateway gave no reason.";
  return { ...facts, change: { kind: "error", message: errorText, hint: textAt(at(payload, "error"), "hint") } };
}

export function readAgentEvent(payload: unknown): RunEvent | undefined {
  const facts = factsOf(payload);
  const change = facts === undefined ? undefined : changeOf(at(payload, "stream"), at(payload, "data"));
  return facts === undefined || change === undefined ? undefined : { ...facts, change };
}

function changeOf(stream: unknown, body: unknown): RunChange | undefined {
  if (stream === "lifecycle") return at(body, "phase") === "start" ? { kind: "start" } : undefined;
  if (stream === "assistant") {
    const text = at(body, "text");
    return typeof text === "string" ? { kind: "text", source: "agent", text } : undefined;
  }
  if (stream === "tool") return toolChangeOf(body);
  if (stream === "notice") return noticeOf(textAt(body, "text"));
  if (stream !== "compaction") return undefined;
  const isStart = at(body, "phase") === "start";
  return noticeOf(
    isStart ? "Compacting the conversation …" : (textAt(body, "note") ?? "The conversation was compacted."),
  );
}

function noticeOf(text: string | undefined): RunChange | undefined {
  return text === undefined ? undefined : { kind: "notice", text };
}

function toolChangeOf(body: unknown): RunChange | undefined {
  const id = textAt(body, "toolCallId");
  const name = textAt(body, "name");
  if (id === undefined || name === undefined) return undefined;
  const phase = at(body, "phase");
  if (phase === "start") return { kind: "tool-start", id, name, args: at(body, "args") };
  if (phase === "update") return { kind: "tool-update", id, name, partial: toOutcome(at(body, "partialResult")) };
  if (phase !== "result") return undefined;
  return {
    kind: "tool-result",
    id,
    name,
    isError: at(body, "isError") === true,
    result: toOutcome(at(body, "result")),
  };
}

/** Undefined when the value is not a message. */
export function toMessage(value: unknown): ChatMessage | undefined {
  const role = at(value, "role");
  if (role !== "user" && role !== "assistant" && role !== "toolResult") return undefined;
  const timestamp = at(value, "timestamp");
  return {
    ...(value as object),
    role,
    content: toContent(at(value, "content")),
    timestamp: typeof timestamp === "number" ? timestamp : 0,
  };
}

function toOutcome(value: unknown): ToolOutcome {
  const details = at(value, "details");
  const content = toContent(at(value, "content")).filter((block) => block.type === "text" || block.type === "image");
  return { content, ...(details === undefined ? {} : { details }) };
}

/** Older transcripts contain a plain string. */
function toContent(value: unknown): Content[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  return Array.isArray(value) ? value.map(toBlock) : [];
}

function toBlock(value: unknown): Content {
  const type = at(value, "type");
  const text = at(value, "text");
  if (type === "text" && typeof text === "string") return { type, text };
  const [bytes, mimeType] = [textAt(value, "data"), textAt(value, "mimeType")];
  if (type === "image" && bytes !== undefined && mimeType !== undefined) return { type, data: bytes, mimeType };
  const [id, name] = [textAt(value, "id"), textAt(value, "name")];
  if (type === "toolCall" && id !== undefined && name !== undefined)
    return { type, id, name, arguments: at(value, "arguments") };
  return { type: "other" };
}

function factsOf(payload: unknown): EventFacts | undefined {
  const [runId, sessionKey, seq] = [textAt(payload, "runId"), textAt(payload, "sessionKey"), at(payload, "seq")];
  if (runId === undefined || sessionKey === undefined) return undefined;
  return { runId, sessionKey, seq: typeof seq === "number" ? seq : 0 };
}

export function textOfContent(content: readonly Content[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
