// Reads the agents of a config: ids, workspaces, the default agent.
import { join } from "node:path";

import { expandHome, type Paths } from "../base/paths.ts";
import { DEFAULT_AGENT, parseAgentId, splitSessionKey, type AgentId, type SessionKey } from "../core/names.ts";
import type { Config } from "./schema/index.ts";

export type AgentEntry = NonNullable<NonNullable<Config["agents"]>["list"]>[number];

/** In the order of the list; without a list there is `main`. */
export function agentIds(config: Config): AgentId[] {
  const ids = (config.agents?.list ?? []).map(({ id }) => parseAgentId(id));
  return ids.length === 0 ? [DEFAULT_AGENT] : ids;
}

/** The first entry marked as default, otherwise the first one, otherwise `main`. */
export function defaultAgentId(config: Config): AgentId {
  const list = config.agents?.list ?? [];
  const entry = list.find((agent) => agent.default === true) ?? list[0];
  return entry === undefined ? DEFAULT_AGENT : parseAgentId(entry.id);
}

/** The keys `global` and `unknown` name no agent and belong to the default one. */
export function agentOfSession(key: SessionKey, config: Config): AgentId {
  return key === "global" || key === "unknown" ? defaultAgentId(config) : splitSessionKey(key).agentId;
}

export function agentConfig(config: Config, id: AgentId): AgentEntry | undefined {
  return config.agents?.list?.find((entry) => parseAgentId(entry.id) === id);
}

/**
 * Absolute. The default agent and `main` share `agents.defaults.workspace`, every other agent has its own folder. With
 * a custom state folder, the workspaces are inside it.
 */
export function workspaceOf(config: Config, id: AgentId, paths: Paths): string {
  const own = agentConfig(config, id)?.workspace;
  if (own !== undefined) return expandHome(own, paths.home);
  const shared = config.agents?.defaults?.workspace;
  const isMain = id === DEFAULT_AGENT || id === defaultAgentId(config);
  if (isMain && shared !== undefined) return expandHome(shared, paths.home);
  if (!isMain) return join(paths.state, `workspace-${id}`);
  return paths.profile === undefined ? join(paths.state, "workspace") : profileWorkspace(paths, paths.profile);
}

export function mainKeyOf(config: Config): string {
  return config.session?.mainKey ?? "main";
}

/** A profile in its default location has its workspace beside the one without a profile. */
function profileWorkspace({ home, state }: Paths, profile: string): string {
  const isUsual = state === join(home, `.openclaw-${profile}`);
  return isUsual ? join(home, ".openclaw", `workspace-${profile}`) : join(state, "workspace");
}
