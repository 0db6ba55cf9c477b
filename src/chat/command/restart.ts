// /restart: restarts the gateway; this session gets a note when it is back.
import { adminIn } from "../owner.ts";
import { answered, type Command } from "../command-run.ts";

export const restart: Command = {
  name: "restart",
  takes: "[note]",
  summary: "Restart the gateway",
  async answer(args, commandRun) {
    if (commandRun.config.commands?.restart !== true) {
      return answered("/restart is off. Turn it on with: openclaw config set commands.restart true");
    }
    const admin = adminIn(commandRun, "restart");
    const { agentId: agent, sessionKey: session } = commandRun.context;
    const note = args.trim();
    const { text } = await admin.restart(
      { reason: "requested in the chat", person: true, ...(note === "" ? {} : { note }) },
      { agent, session },
    );
    return answered(text);
  },
};
