// Prints one message of a conversation: from the person, from the gateway to the agent, or a reply.
import { textIn } from "./chat/run-events.ts";
import type { Io } from "./io.ts";
import { safe } from "./print.ts";

export interface ShownMessage {
  readonly role: string;
  readonly content: unknown;
  /** The source of a user message that no person wrote. */
  readonly source?: string;
}

export function printMessage(io: Io, { role, content, source }: ShownMessage): void {
  const text = safe(textIn(content));
  if (text === "") return;
  if (role !== "user") return io.print(text);
  // Marked on every line: without colors it would look like a reply.
  if (source !== undefined) return io.print(io.paint.dim(text.replaceAll(/^/gm, "· ")));
  io.print(`${io.paint.strong("> ")}${text}`);
}
