// `openclaw system event`: posts a note to the main session, for its next turn or immediately.
import { withGateway } from "../client.ts";
import { defineCommand, UsageError } from "../command.ts";
import { toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { systemOptions, targetOf } from "../target.ts";

const modes = ["now", "next-heartbeat"] as const;

export const command = defineCommand({
  options: {
    text: { type: "string", value: "text", description: "Text of the note." },
    mode: {
      type: "string",
      value: "mode",
      choices: modes,
      description: "When the agent reads it (default: next-heartbeat).",
    },
    ...systemOptions,
  },
  examples: [
    { line: "system event --text 'The backup is done'", does: "read with the next turn" },
    { line: "system event --text 'The doorbell rang' --mode now", does: "starts a turn for it" },
  ],
  async run(io, { options }) {
    const { text = "", mode = "next-heartbeat" } = options;
    if (text.trim() === "") throw new UsageError("missing --text <text>", ["system", "event"]);
    await requireConfigUnless(options.url !== undefined, io);
    const answer = await withGateway(io, await targetOf(io, options), (client) =>
      client.call("wake", { mode: mode === "now" ? "now" : "next-heartbeat", text }),
    );
    if (io.json) io.print(toJson(answer));
    else io.print(mode === "now" ? "Posted; a turn starts now." : "Posted for the next turn.");
    return 0;
  },
});
