// /reasoning: whether the model's thoughts are shown.
import { levelDirective } from "../level.ts";

export const reasoning = levelDirective({
  name: "reasoning",
  aliases: ["reason"],
  summary: "Show the model's thoughts as a message of their own",
  title: "Reasoning",
  levels: ["off", "on", "stream"],
  synonyms: {},
  field: "reasoningLevel",
  once: "reasoning",
  current: async (commandRun) => (await commandRun.entry()).reasoningLevel ?? "off (default)",
});
