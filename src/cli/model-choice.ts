// Which model answers, as an edit of the config: the shortest that keeps fall-backs, aliases and comments.
import { parseAgentId, type AgentId } from "../core/names.ts";
import type { Edit } from "../config/edit.ts";
import type { Config } from "../config/schema/index.ts";
import { requireAgent } from "./agent-rows.ts";

/** For one agent or, without one, for all that have none of their own. `alias` in place of a model is taken as it is. */
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

/** Without a list there is main all the same; to give it a model it needs an entry. */
function implicitMain(config: Config, id: AgentId | undefined): Edit[] {
  if (id === undefined || (config.agents?.list ?? []).length > 0) return [];
  return [{ path: ["agents", "list"], value: [{ id }] }];
}

/** A list of models people may pick would keep the new one out. */
function allowing(config: Config, ref: string): Edit[] {
  const models = config.agents?.defaults?.models ?? {};
  const isListed = Object.keys(models).length === 0 || Object.hasOwn(models, ref);
  return isListed ? [] : [{ path: ["agents", "defaults", "models", ref], value: {} }];
}
