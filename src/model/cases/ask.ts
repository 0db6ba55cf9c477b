// Sends requests to a model and reads its events, for the shared cases.
import assert from "node:assert/strict";

import type { AssistantMessage, Message, ToolResultMessage } from "../../core/message.ts";
import type { Model, ModelEvent, ModelFailure, ModelRequest } from "../model.ts";

export const onePixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export function request(change: Partial<ModelRequest> = {}): ModelRequest {
  const path = { type: "string" };
  const tool = (name: string) => ({
    name,
    description: `${name}s`,
    parameters: { type: "object", properties: { path }, additionalProperties: false },
  });
  return {
    system: "You are a careful assistant.",
    messages: [user("hello")],
    tools: [tool("read"), tool("write"), tool("camera")],
    thinking: "off",
    maxTokens: 4096,
    cacheKey: "session-1",
    ...change,
  };
}

export async function ask(
  model: Model,
  change: Partial<ModelRequest> = {},
  signal?: AbortSignal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request(change), signal ?? new AbortController().signal)) events.push(event);
  const lasts = events.filter(({ type }) => type === "end" || type === "error");
  assert.ok(
    lasts.length === 1 && lasts[0] === events.at(-1),
    `exactly one last event: ${JSON.stringify(events).slice(0, 500)}`,
  );
  return events;
}

export const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });

/** As the agent loop stores it: joined text, then calls, with the vendor's replay data. */
export function assistantFrom(events: readonly ModelEvent[], { provider, id }: Model): AssistantMessage {
  const text = textOf(events);
  const end = lastOf(events);
  return {
    role: "assistant",
    content: [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...callsOf(events).map((entry) => ({
        ...callBlock(entry.id, entry.name),
        arguments: JSON.parse(entry.arguments) as Record<string, unknown>,
      })),
    ],
    timestamp: 0,
    provider,
    model: id,
    ...(end?.type === "end" && end.replay !== undefined
      ? { replay: JSON.parse(JSON.stringify(end.replay)) as unknown }
      : {}),
  };
}

export function resultsFor(events: readonly ModelEvent[], text: string): ToolResultMessage[] {
  return callsOf(events).map(({ id, name }) => ({ ...resultOf(id, text), toolName: name }));
}

export function resultOf(toolCallId: string, text: string): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId,
    toolName: "read",
    content: [{ type: "text", text }],
    isError: false,
    timestamp: 0,
  };
}

export const callBlock = (id: string, name: string) => ({ type: "toolCall" as const, id, name, arguments: {} });

export function textOf(events: readonly ModelEvent[]): string {
  const last = lastOf(events);
  if (last?.type === "error" && events.length === 1) assert.fail(`failed: ${last.error.kind}: ${last.error.message}`);
  return events.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join("");
}

export const lastOf = (events: readonly ModelEvent[]): ModelEvent | undefined => events.at(-1);
export const callsOf = (events: readonly ModelEvent[]) => events.filter((event) => event.type === "tool-call");
export const startsOf = (events: readonly ModelEvent[]): string[] =>
  events.flatMap((event) => (event.type === "tool-start" ? [event.id] : []));

export function stopOf(events: readonly ModelEvent[]): string {
  const last = lastOf(events);
  assert.ok(last?.type === "end", JSON.stringify(last));
  return last.stop;
}

export function failureOf(events: readonly ModelEvent[]): ModelFailure {
  const last = lastOf(events);
  assert.ok(last?.type === "error", JSON.stringify(last));
  return last.error;
}

export function kinds(events: readonly ModelEvent[]): string[] {
  return events.map((event) => (event.type === "error" ? `error:${event.error.kind}` : event.type));
}
