// /whoami: shows the sender and the channel as the gateway sees them.
import { isRecord } from "../../core/record.ts";
import { answered, type Command } from "../command-run.ts";

export const whoami: Command = {
  name: "whoami",
  aliases: ["id"],
  summary: "Show your sender id, session and agent",
  shortcut: true,
  async answer(_args, commandRun) {
    const { agentId, sessionKey, source } = commandRun.context;
    const { origin } = await commandRun.entry();
    const from = isRecord(origin) && typeof origin.from === "string" ? origin.from : undefined;
    return answered(
      [
        `You write through: ${source}`,
        ...(from === undefined ? [] : [`Your id: ${from}`]),
        `Session: ${sessionKey}`,
        `Agent: ${agentId}`,
        "You may use commands.",
      ].join("\n"),
    );
  },
};
