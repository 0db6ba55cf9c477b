// One message of a conversation in the terminal: the person's own, what the gateway told the agent, or a reply.
import { textIn } from "./chat/run-events.ts";
import type { Io } from "./io.ts";
import { safe } from "./print.ts";

export interface SaidMessage {
  readonly role: string;
  readonly content: unknown;
  /** Of a user message that no person wrote: the door it came in by. */
  readonly source?: string;
}

export function printSaid(io: Io, { role, content, source }: SaidMessage): void {
  const text = safe(textIn(content));
  if (text === "") return;
  if (role !== "user") return io.print(text);
  // Marked on every line: without colours it would look like a reply.
  if (source !== undefined) return io.print(io.paint.dim(text.replaceAll(/^/gm, "· ")));
  io.print(`${io.paint.strong("> ")}${text}`);
}
