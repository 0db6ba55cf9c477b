// The choice of a model: parses it, and sets it with the smallest edit that keeps fallbacks, aliases and comments.
import { parseAgentId, type AgentId } from "../core/names.ts";
import type { Edit } from "../config/edit.ts";
import type { Config } from "../config/schema/index.ts";
import { requireAgent } from "./agent-rows.ts";
import { UsageError } from "./command.ts";

/** For one agent or, without one, for all agents without their own model. An alias is accepted as it is. */
export function chooseModel(config: Config, ref: string, agent?: string): Edit[] {
  const own = agent === undefined ? undefined : requireAgent(config, agent);
  const place = own === undefined ? ["agents", "defaults"] : placeOf(config, own);
  const now = own === undefined ? config.agents?.defaults?.model : entryOf(config, own)?.model;
  const edit: Edit =
    typeof now === "string"
      ? { path: [...place, "model"], value: own === undefined ? { primary: ref } : ref }
      : { path: [...place, "model", "primary"], value: ref };
  return [...implicitMain(config, own), edit, ...allowing(config, ref)];
}

function entryOf(config: Config, id: AgentId) {
  return config.agents?.list?.find((entry) => parseAgentId(entry.id) === id);
}

function placeOf(config: Config, id: AgentId): (string | number)[] {
  const at = (config.agents?.list ?? []).findIndex((entry) => parseAgentId(entry.id) === id);
  return ["agents", "list", Math.max(0, at)];
}

/** Without a list, the agent main exists implicitly; to have a model, it needs an entry. */
function implicitMain(config: Config, id: AgentId | undefined): Edit[] {
  if (id === undefined || (config.agents?.list ?? []).length > 0) return [];
  return [{ path: ["agents", "list"], value: [{ id }] }];
}

/** If the config lists the allowed models, the new one must be added. */
function allowing(config: Config, ref: string): Edit[] {
  const models = config.agents?.defaults?.models ?? {};
  const isListed = Object.keys(models).length === 0 || Object.hasOwn(models, ref);
  return isListed ? [] : [{ path: ["agents", "defaults", "models", ref], value: {} }];
}

/** Parses `provider/model`, where the model name may contain slashes. Throws UsageError. */
export function parseModelRef(written: string, helpFor: readonly string[]): { provider: string; id: string } {
  const slash = written.indexOf("/");
  const provider = written.slice(0, slash).trim();
  const id = written.slice(slash + 1).trim();
  if (slash > 0 && provider !== "" && id !== "" && !/\s/.test(provider)) return { provider, id };
  throw new UsageError(
    `not a model: ${JSON.stringify(written)}; write provider/model, such as openai/gpt-5.2`,
    helpFor,
  );
}
