// The messages that a caller sends with a request, without those that the session already has.
import {
  textOf,
  type AssistantMessage,
  type Message,
  type ToolResultMessage,
  type UserMessage,
} from "../core/message.ts";
import { neutralizeSystemPrefix } from "../base/untrusted-content.ts";

/** The placeholder result of a call that the caller answers itself. */
export const PASSED_TO_CALLER = "Passed to the caller; its result comes with the next message.";

/**
 * The part of `brought` that is new to a session with `stored`. Clients send a whole conversation, its end, or only
 * new messages: their user messages are aligned with the stored ones, and what follows is new.
 */
export function unseenMessages(stored: readonly Message[], brought: readonly Message[]): Message[] {
  const { next, from } = align(stored, brought);
  const known = stored.slice(from);
  const calls = new Map(callsIn(known));
  const fresh: Message[] = [];
  for (const message of brought.slice(next)) {
    if (message.role === "user") fresh.push({ ...message, content: message.content.map(plain) });
    else if (message.role === "assistant")
      fresh.push(...unseenAnswer(message, known, calls, next > 0 && fresh.length === 0));
    else fresh.push(...unseenResult(message, stored, known, calls, fresh));
  }
  const last = brought.at(-1);
  // A repeated request for an answer that exists already: the model needs a message to answer.
  const isRepeated = fresh.length === 0 && last?.role === "toolResult" && stored.at(-1)?.role === "assistant";
  return isRepeated ? [resultAsText({ ...last, toolName: calls.get(last.toolCallId) ?? last.toolName })] : fresh;
}

/** Aligns the user messages of both from the end backwards. */
function align(
  stored: readonly Message[],
  brought: readonly Message[],
): { readonly next: number; readonly from: number } {
  const ours = usersOf(stored);
  const theirs = usersOf(brought);
  let found = { next: 0, from: 0 };
  // One row per incoming message bounds the cost.
  let row: number[] = [];
  for (const [at, their] of theirs.entries()) {
    const above = row;
    row = ours.map(({ text }, index) => (isSameText(text, their.text) ? (above[index - 1] ?? 0) + 1 : 0));
    const best = row.findLastIndex((agreed, index) => agreed > Math.min(at, index));
    if (best >= 0) found = { next: their.index + 1, from: ours[best]?.index ?? 0 };
  }
  return found;
}

function usersOf(messages: readonly Message[]): { readonly index: number; readonly text: string }[] {
  return messages.flatMap((message, index) =>
    message.role === "user" ? [{ index, text: textOf(message.content.map(plain)) }] : [],
  );
}

/** The gateway may have put system lines before the stored text. */
const isSameText = (stored: string, brought: string): boolean => stored === brought || stored.endsWith(`\n${brought}`);

type PlainBlock = UserMessage["content"][number];

/** Only the gateway starts a line with `System:`. */
function plain(block: PlainBlock): PlainBlock {
  return block.type === "text" ? { ...block, text: neutralizeSystemPrefix(block.text) } : block;
}

function callsIn(messages: readonly Message[]): [id: string, name: string][] {
  return messages.flatMap(({ role, content }) =>
    role === "assistant"
      ? content.flatMap((block): [string, string][] => (block.type === "toolCall" ? [[block.id, block.name]] : []))
      : [],
  );
}

function unseenAnswer(
  message: AssistantMessage,
  known: readonly Message[],
  calls: Map<string, string>,
  followsKnown: boolean,
): AssistantMessage[] {
  const made = message.content.filter((block) => block.type === "toolCall");
  const fresh = made.filter(({ id }) => !calls.has(id));
  const text = textOf(message.content);
  const answers = known.filter(({ role }) => role === "assistant");
  const isKnown =
    text === "" ||
    (made.length > 0 && fresh.length === 0) ||
    (followsKnown && answers.length > 0) ||
    answers.some(({ content }) => textOf(content) === text);
  const content = [...(isKnown ? [] : message.content.filter(({ type }) => type !== "toolCall")), ...fresh];
  for (const { id, name } of fresh) calls.set(id, name);
  return content.length === 0 ? [] : [{ ...message, content }];
}

/** Paired with its call while that waits for a result; else as text, because vendors reject results without calls. */
function unseenResult(
  result: ToolResultMessage,
  stored: readonly Message[],
  known: readonly Message[],
  calls: ReadonlyMap<string, string>,
  fresh: readonly Message[],
): Message[] {
  const id = result.toolCallId;
  const named = { ...result, toolName: calls.get(id) ?? result.toolName };
  if (isOpenIn(fresh, id)) return [named];
  const last = known.findLast((message) => message.role === "toolResult" && message.toolCallId === id);
  if (last !== undefined && textOf(last.content) !== PASSED_TO_CALLER) return [];
  if (fresh.every(({ role }) => role === "toolResult") && isEndOf(stored, id)) return [named];
  return [resultAsText(named)];
}

function resultAsText({ toolName, toolCallId, content, timestamp }: ToolResultMessage): UserMessage {
  const text = `Result of your call ${toolName} (${toolCallId}):\n${textOf(content)}`;
  return {
    role: "user",
    content: [{ type: "text", text }, ...content.filter(({ type }) => type === "image")],
    timestamp,
  };
}

/** Whether the last answer made this call and only results followed. */
function isEndOf(messages: readonly Message[], id: string): boolean {
  const last = messages.findLastIndex(({ role }) => role !== "toolResult");
  return callsIn(messages.slice(last)).some(([made]) => made === id);
}

function isOpenIn(messages: readonly Message[], id: string): boolean {
  const last = messages.findLastIndex(({ role }) => role !== "toolResult");
  const isAnswered = messages.slice(last + 1).some((one) => one.role === "toolResult" && one.toolCallId === id);
  return isEndOf(messages, id) && !isAnswered;
}
