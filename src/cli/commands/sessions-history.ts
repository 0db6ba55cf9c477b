// `openclaw sessions history`: shows the messages of a session, oldest first.
import { textIn } from "../chat/run-events.ts";
import { argumentsText } from "../chat/tool-line.ts";
import { withGateway } from "../client.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";
import { oneLine, safe, toJson } from "../print.ts";
import { printMessage, type ShownMessage } from "../print-message.ts";
import { requireConfigUnless } from "../settings.ts";
import { targetOf, wireOptions } from "../target.ts";

interface HistoryEntry extends ShownMessage {
  readonly timestamp: number;
  readonly toolName?: string;
  readonly isError?: boolean;
  readonly errorMessage?: string;
}

export const command = defineCommand({
  arguments: [{ name: "key", description: "The session, such as main or agent:support:main." }],
  options: {
    limit: { type: "string", value: "n", description: "Maximum number of messages (default: 50)." },
    tools: { type: "boolean", description: "Also show tool calls and their results." },
    ...wireOptions,
  },
  examples: [
    { line: "sessions history main --limit 10", does: "the end of the main session" },
    { line: "sessions history main --tools --json", does: "messages as stored" },
  ],
  async run(io, { options, arguments: [sessionKey = ""] }) {
    const limit = wholeNumber("limit", options.limit, { min: 1, max: 1000 }) ?? 50;
    await requireConfigUnless(options.url !== undefined, io);
    const history = await withGateway(io, await targetOf(io, options), (client) =>
      client.call("chat.history", { sessionKey, limit }),
    );
    const withTools = options.tools === true;
    if (io.json) io.print(toJson(history));
    else if (history.messages.length === 0) io.print("No messages yet.");
    else for (const message of history.messages) printEntry(io, message, withTools);
    return 0;
  },
});

function printEntry(io: Io, message: HistoryEntry, withTools: boolean): void {
  const { role, content, toolName, isError, errorMessage } = message;
  if (role === "toolResult") {
    if (withTools)
      io.print(
        io.paint.dim(`⚙ ${oneLine(toolName ?? "")} ${isError === true ? "failed" : "ok"}: ${safe(textIn(content))}`),
      );
    return;
  }
  printMessage(io, message);
  if (errorMessage !== undefined) io.print(io.paint.bad(safe(errorMessage)));
  if (!withTools || !Array.isArray(content)) return;
  for (const block of content as readonly { type?: string; name?: string; arguments?: unknown }[])
    if (block.type === "toolCall")
      io.print(io.paint.dim(`⚙ ${oneLine(block.name ?? "")} ${argumentsText(block.arguments)}`));
}
