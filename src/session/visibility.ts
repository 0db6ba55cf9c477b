// Which sessions a caller may see and change. Callers pass normalized keys.
import { isSubagentKey, type AgentId, type SessionKey } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";
import { agentConfig } from "../config/agents.ts";
import type { SessionRecord } from "../store/store.ts";

export interface Viewer {
  readonly agent: AgentId;
  readonly session: SessionKey;
  readonly sandboxed: boolean;
  /** Other people read this chat, so the session sees only itself (`isConfinedToChat` of tool/trust.ts). */
  readonly isConfined?: boolean;
}

export function maySee(viewer: Viewer, target: SessionRecord, config: Config): boolean {
  if (target.key === viewer.session) return true;
  if (target.key === "global" || target.key === "unknown") return false;
  if (seesOnlySpawned(viewer, config)) return target.spawnedBy === viewer.session;
  return target.agentId === viewer.agent || mayCross(viewer.agent, target.agentId, config);
}

/** Changing needs more than seeing: a subagent or sandboxed session changes only itself and its own subagents. */
export function mayChange(viewer: Viewer, target: SessionRecord, config: Config): boolean {
  if (target.key === viewer.session) return true;
  if (viewer.sandboxed || isSubagentKey(viewer.session)) return target.spawnedBy === viewer.session;
  return target.agentId === viewer.agent && maySee(viewer, target, config);
}

/** Always true for subagents; for sandboxed and confined sessions unless the config opens them. */
export function seesOnlySpawned({ agent, sandboxed, session, isConfined = false }: Viewer, config: Config): boolean {
  if (isSubagentKey(session)) return true;
  if (!sandboxed && !isConfined) return false;
  const own = agentConfig(config, agent)?.sandbox?.sessionToolsVisibility;
  return (own ?? config.agents?.defaults?.sandbox?.sessionToolsVisibility ?? "spawned") === "spawned";
}

export function isListed(id: AgentId, allow: readonly string[]): boolean {
  return allow.some((entry) => entry === "*" || entry.trim().toLowerCase() === id);
}

/** `tools.agentToAgent`: off unless enabled; with a list, both agents must be on it. */
export function mayCross(from: AgentId, to: AgentId, config: Config): boolean {
  const rule = config.tools?.agentToAgent;
  if (rule?.enabled !== true) return false;
  if (rule.allow === undefined) return true;
  return isListed(from, rule.allow) && isListed(to, rule.allow);
}
