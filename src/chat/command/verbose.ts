// /verbose: how much of the tool calls a chat sees.
import { levelDirective } from "../level.ts";

export const verbose = levelDirective({
  name: "verbose",
  aliases: ["v"],
  summary: "Show tool calls in the chat (full: with output)",
  title: "Verbose",
  levels: ["off", "on", "full"],
  synonyms: {},
  field: "verboseLevel",
  once: "verbose",
  async current(commandRun) {
    const { verboseLevel } = await commandRun.entry();
    return verboseLevel ?? `${commandRun.config.agents?.defaults?.verboseDefault ?? "off"} (default)`;
  },
});
