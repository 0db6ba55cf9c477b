// What the agents of a config can reach: which tools policy leaves them, and whether a sandbox stands around them.
import { agentConfig, agentIds } from "../../config/agents.ts";
import type { ConfigPath } from "../../config/path.ts";
import type { Config } from "../../config/schema/index.ts";
import type { AgentId } from "../../core/names.ts";
import { decide } from "../../tool/policy/decide.ts";
import { coreTools } from "../../tool/policy/groups.ts";

export interface Reach {
  readonly agent: AgentId;
  /** Where settings of this agent alone are written. */
  readonly own: ConfigPath;
  readonly mode: "off" | "non-main" | "all";
  /** By policy, on the main session. */
  readonly may: (tool: string) => boolean;
}

export function reachOf(config: Config): Reach[] {
  return agentIds(config).map((agent) => {
    const index = config.agents?.list?.findIndex(({ id }) => id.trim().toLowerCase() === agent) ?? -1;
    const mode = agentConfig(config, agent)?.sandbox?.mode ?? config.agents?.defaults?.sandbox?.mode ?? "off";
    return {
      agent,
      own: index < 0 ? ["agents", "defaults"] : ["agents", "list", index],
      mode,
      may: (tool) =>
        decide(
          {
            config,
            universe: { core: coreTools, plugins: [] },
            agentId: agent,
            sandboxed: mode === "all",
            subagent: false,
          },
          tool,
        ).allowed,
    };
  });
}

export function isAnySandboxOff(config: Config): boolean {
  return reachOf(config).some(({ mode }) => mode !== "all");
}
