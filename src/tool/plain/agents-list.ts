// The agents_list tool: lists the agents that the caller may start as subagents.
import { parseAgentId, type AgentId } from "../../core/names.ts";
import { Type } from "../../core/schema.ts";
import { agentConfig, agentIds } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { defineTool, json } from "../tool.ts";

export const agentsList = defineTool({
  name: "agents_list",
  summary: "List agents for sessions_spawn",
  description: "List the agents that sessions_spawn accepts as agentId, your own first.",
  params: Type.Object({}, { additionalProperties: false }),
  intent: () => ({ does: "look" }),
  async run(_args, call) {
    return json(targetsOf(call.agent, call.config));
  },
});

interface Target {
  readonly id: string;
  readonly name?: string;
  readonly configured: boolean;
}

function targetsOf(requester: AgentId, config: Config): { requester: string; allowAny: boolean; agents: Target[] } {
  const known = agentIds(config);
  const allowed = (agentConfig(config, requester)?.subagents?.allowAgents ?? []).map((entry) =>
    entry.trim().toLowerCase(),
  );
  const allowAny = allowed.includes("*");
  const named = allowAny ? known : allowed.filter((entry) => entry !== "").map((entry) => parseAgentId(entry));
  const ids = [...new Set([requester, ...named])];
  const agents = ids.map((id) => {
    const name = agentConfig(config, id)?.name;
    return { id, ...(name === undefined ? {} : { name }), configured: agentConfig(config, id) !== undefined };
  });
  return { requester, allowAny, agents };
}
