// `openclaw system event`: a line for the main session, told with its next turn or at once.
import { withGateway } from "../client.ts";
import { defineCommand, UsageError } from "../command.ts";
import { toJson } from "../print.ts";
import { requireConfigUnless } from "../settings.ts";
import { systemOptions } from "../system-options.ts";
import { targetOf } from "../target.ts";

const modes = ["now", "next-heartbeat"] as const;

export const command = defineCommand({
  options: {
    text: { type: "string", value: "text", description: "What it is told." },
    mode: { type: "string", value: "mode", choices: modes, description: "next-heartbeat unless said." },
    ...systemOptions,
  },
  examples: [
    { line: "system event --text 'The backup is done'", does: "told with the next turn" },
    { line: "system event --text 'The door rang' --mode now", does: "and a turn is begun for it" },
  ],
  async run(io, { options }) {
    const { text = "", mode = "next-heartbeat" } = options;
    if (text.trim() === "") throw new UsageError("--text is needed", ["system", "event"]);
    await requireConfigUnless(options.url !== undefined, io);
    const answer = await withGateway(io, await targetOf(io, options), (client) =>
      client.call("wake", { mode: mode === "now" ? "now" : "next-heartbeat", text }),
    );
    if (io.json) io.print(toJson(answer));
    else io.print(mode === "now" ? "Told; a turn begins for it." : "Kept for the next turn.");
    return 0;
  },
});
