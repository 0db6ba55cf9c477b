// Makes messages valid for every vendor: each call has its result, no message is empty, users and assistants alternate.
import type { AssistantMessage, Block, Message, ToolResultMessage, UserMessage } from "../core/message.ts";

const LOST = "No result was recorded: the run was interrupted here.";

/** Leaves valid messages unchanged, so that the prefix stays the same bytes. */
export function repairMessages(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined || message.role === "toolResult") continue; // results are added with their call
    if (message.role === "user") pushUser(out, message);
    else {
      const { results, next } = resultsAfter(messages, at);
      if (out.length === 0 && isText(message)) out.push(opening(message));
      if (message.content.length > 0 && out.length > 0) out.push(...paired(message, results));
      at = next - 1;
    }
  }
  return out;
}

/** True for a message that was posted in a new session before the first user message; calls there are a cut and are dropped. */
function isText({ content }: AssistantMessage): boolean {
  return content.length > 0 && content.every(({ type }) => type === "text");
}

function opening({ timestamp }: AssistantMessage): UserMessage {
  return { role: "user", content: [{ type: "text", text: "[you spoke first]" }], timestamp };
}

function pushUser(out: Message[], message: UserMessage): void {
  if (message.content.length === 0) return;
  const last = out.at(-1);
  if (last?.role !== "user") out.push(message);
  else out[out.length - 1] = { ...last, content: [...last.content, ...message.content] };
}

function resultsAfter(messages: readonly Message[], at: number): { results: ToolResultMessage[]; next: number } {
  const results: ToolResultMessage[] = [];
  let next = at + 1;
  for (let message = messages[next]; message?.role === "toolResult"; message = messages[++next]) results.push(message);
  return { results, next };
}

function paired(message: AssistantMessage, results: readonly ToolResultMessage[]): Message[] {
  const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []));
  const answers = calls.map(
    ({ id, name }): ToolResultMessage =>
      results.findLast(({ toolCallId }) => toolCallId === id) ?? {
        role: "toolResult",
        toolCallId: id,
        toolName: name,
        content: [{ type: "text", text: LOST }],
        isError: true,
        timestamp: message.timestamp,
      },
  );
  return [message, ...answers];
}

const KEEP_IMAGES = 8;
const STEP = 4;

/** Replaces older images by a text, four at a time, so that the prefix does not change with every turn. */
export function dropOldImages(messages: readonly Message[]): readonly Message[] {
  const total = messages.reduce((sum, { content }) => sum + content.filter(({ type }) => type === "image").length, 0);
  if (total <= KEEP_IMAGES) return messages;
  let drop = STEP * Math.ceil((total - KEEP_IMAGES) / STEP);
  return messages.map((message) => {
    if (drop === 0 || message.role === "assistant" || !message.content.some(({ type }) => type === "image"))
      return message;
    const content = message.content.map((block): Block => {
      if (block.type !== "image" || drop === 0) return block;
      drop -= 1;
      return { type: "text", text: "[an earlier image, no longer sent]" };
    });
    return { ...message, content };
  });
}
