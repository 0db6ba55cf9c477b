// /whoami: who the house thinks is writing, and where.
import { isRecord } from "../../core/record.ts";
import { answered, type Command } from "../command-run.ts";

export const whoami: Command = {
  name: "whoami",
  aliases: ["id"],
  summary: "Who you are to this gateway",
  shortcut: true,
  async answer(_args, scene) {
    const { agentId, sessionKey, source } = scene.context;
    const { origin } = await scene.entry();
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
