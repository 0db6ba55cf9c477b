// Chooses model and thinking level of a subagent: the request, else its agent's setting, else the shared one.
import { parseThinkingLevel, thinkingLevels, type ThinkingLevel } from "../../core/thinking-level.ts";
import { ToolError } from "../../core/error.ts";
import type { AgentId } from "../../core/names.ts";
import { agentConfig } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { isModelAllowed, namesIn, parseModelRef } from "../../model/catalog.ts";
import type { ModelBook, ModelRef } from "../../model/model.ts";
import { pickListedModel } from "../../model/pick.ts";

export interface ModelPick {
  /** Absent: the default model of its agent. */
  readonly ref?: ModelRef;
  readonly warning?: string;
}

/**
 * A requested model must be one of the listed models. A configured model that cannot be used is skipped with a
 * warning, so that the task still runs.
 */
export async function pickModel(
  requested: string | undefined,
  target: AgentId,
  config: Config,
  models: Pick<ModelBook, "list">,
): Promise<ModelPick> {
  if (requested?.trim() === "")
    throw new ToolError("model.bad-reference", "sessions_spawn: model is empty", { hint: "leave it out" });
  if (requested !== undefined && requested.trim() !== "default")
    return { ref: pickListedModel(requested, config, await models.list()) };
  const rules = [agentConfig(config, target)?.subagents?.model, config.agents?.defaults?.subagents?.model];
  const skipped: string[] = [];
  for (const rule of rules) {
    const [name] = namesIn(rule);
    if (name === undefined) continue;
    const ref = parseModelRef(name, config);
    const problem = ref === undefined ? "is not a model reference" : await problemWith(ref, config, models);
    if (ref !== undefined && problem === undefined) return { ref, ...warningOf(skipped) };
    skipped.push(`model "${name.slice(0, 100)}" ${problem ?? ""} and was skipped`);
  }
  return warningOf(skipped);
}

function warningOf(skipped: readonly string[]): { warning?: string } {
  return skipped.length === 0 ? {} : { warning: skipped.join("; ") };
}

async function problemWith(
  ref: ModelRef,
  config: Config,
  models: Pick<ModelBook, "list">,
): Promise<string | undefined> {
  if (!isModelAllowed(config, ref)) return "is not allowed (agents.defaults.models)";
  if (config.models?.providers?.[ref.provider] !== undefined) return undefined;
  const known = (await models.list()).some(({ provider, ready }) => provider === ref.provider && ready);
  return known ? undefined : `has no provider "${ref.provider}" here`;
}

export function pickThinking(
  requested: string | undefined,
  target: AgentId,
  config: Config,
): ThinkingLevel | undefined {
  const word =
    requested ?? agentConfig(config, target)?.subagents?.thinking ?? config.agents?.defaults?.subagents?.thinking;
  if (word === undefined) return undefined;
  const level = parseThinkingLevel(word.trim().toLowerCase());
  if (level !== undefined || requested === undefined) return level;
  throw new ToolError("model.bad-thinking", `sessions_spawn: thinking "${word.slice(0, 40)}" is not a level`, {
    hint: thinkingLevels.join(", "),
  });
}
