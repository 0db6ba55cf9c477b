// Estimates the tokens of messages, to act before a vendor rejects a request.
import type { Message } from "../core/message.ts";
import { CHARS_PER_TOKEN, IMAGE_TOKENS } from "./limits.ts";

export function tokensOf({ content }: Pick<Message, "content">): number {
  const tokens = content.reduce((sum, block) => {
    if (block.type === "text") return sum + block.text.length / CHARS_PER_TOKEN;
    if (block.type === "image") return sum + IMAGE_TOKENS;
    return sum + (block.name.length + JSON.stringify(block.arguments).length) / CHARS_PER_TOKEN;
  }, 4);
  return Math.ceil(tokens);
}

export function tokensIn(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0);
}
