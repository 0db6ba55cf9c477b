// /think: how much the model thinks before it answers.
import { thinkingLevels } from "../../core/thinking-level.ts";
import { levelDirective } from "../level.ts";
import type { CommandRun } from "../command-run.ts";

export const think = levelDirective({
  name: "think",
  aliases: ["thinking", "t"],
  summary: "How much the model thinks",
  title: "Thinking",
  levels: thinkingLevels,
  synonyms: {
    "x-high": "xhigh",
    x_high: "xhigh",
    "extra-high": "xhigh",
    extra_high: "xhigh",
    "extra high": "xhigh",
    highest: "high",
    max: "high",
    min: "minimal",
    mid: "medium",
    none: "off",
  },
  field: "thinkingLevel",
  once: "thinking",
  current: currentThinking,
  async objection(level, commandRun) {
    if (level !== "xhigh") return undefined;
    const model = await commandRun.model();
    if (model === undefined || /gpt-5\.[2-9]|codex/i.test(model.id)) return undefined;
    return `xhigh works with GPT-5.2 and Codex models only, not with ${model.id}. Nothing was changed.`;
  },
});

/** The session's level, else the configured one, else low for models that think. */
export async function currentThinking(commandRun: CommandRun): Promise<string> {
  const { thinkingLevel } = await commandRun.entry();
  if (thinkingLevel !== undefined) return thinkingLevel;
  const configured = commandRun.config.agents?.defaults?.thinkingDefault;
  if (configured !== undefined) return `${configured} (default)`;
  const model = await commandRun.model();
  return model !== undefined && commandRun.deps.models.facts(model).reasoning ? "low (default)" : "off (default)";
}
