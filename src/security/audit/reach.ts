// Computes which tools each agent can use by policy, and whether it is sandboxed.
import { agentConfig, agentIds } from "../../config/agents.ts";
import type { ConfigPath } from "../../config/path.ts";
import type { Config } from "../../config/schema/index.ts";
import type { AgentId } from "../../core/names.ts";
import { agentIndex } from "../../exec/describe-route.ts";
import { decide } from "../../tool/policy/decide.ts";
import { coreTools } from "../../tool/policy/groups.ts";

export interface Reach {
  readonly agent: AgentId;
  /** The path of the settings for this agent alone. */
  readonly own: ConfigPath;
  readonly mode: "off" | "non-main" | "all";
  /** By policy, in the main session. */
  readonly may: (tool: string) => boolean;
}

export function reachOf(config: Config): Reach[] {
  return agentIds(config).map((agent) => {
    const index = agentIndex(config, agent);
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
