// `openclaw agents delete`: removes an agent and its bindings from the config; its files and sessions stay on disk.
import { OpenClawError } from "../../core/error.ts";
import { DEFAULT_AGENT, parseAgentId, type AgentId } from "../../core/names.ts";
import { agentIds, defaultAgentId, workspaceOf } from "../../config/agents.ts";
import type { Edit } from "../../config/edit.ts";
import type { Config } from "../../config/schema/index.ts";
import { requireAgent, sameAgent } from "../agent-rows.ts";
import { confirm } from "../ask.ts";
import { defineCommand } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { shortPath } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  arguments: [{ name: "id", description: "The agent." }],
  options: {
    force: { type: "boolean", description: "Do not ask for confirmation; required in scripts." },
  },
  examples: [{ line: "agents delete support --force", does: "without confirmation" }],
  async run(io, { options, arguments: [raw = ""] }) {
    const { config: now } = await requireConfig(io);
    const id = requireAgent(now, raw);
    if (id === DEFAULT_AGENT || id === defaultAgentId(now)) throw needed(id, now);
    if (
      options.force !== true &&
      !(await confirm(io, `Remove agent ${id} and its bindings from the config?`, "--force"))
    ) {
      io.say("nothing was changed");
      return 1;
    }
    const change = editConfig(io, "agents.list", ({ config }): Edit[] => {
      const at = (config.agents?.list ?? []).findIndex((entry) => parseAgentId(entry.id) === id);
      const bound = (config.bindings ?? []).flatMap((binding, index) => (sameAgent(binding, id) ? [index] : []));
      return [
        { path: ["agents", "list", at], remove: true },
        ...bound.toReversed().map((index): Edit => ({ path: ["bindings", index], remove: true })),
      ];
    });
    const folder = shortPath(workspaceOf(now, id, io.paths()), io);
    reportChange(io, change, `removed agent ${id}; its workspace ${folder} stays on disk`);
    return 0;
  },
});

function needed(id: AgentId, config: Config): OpenClawError {
  if (id !== defaultAgentId(config))
    return new OpenClawError("agent.needed", `agent "${id}" cannot be removed: sessions without an agent belong to it`);
  const ids = agentIds(config);
  const other = ids.findIndex((known) => known !== id);
  // The first entry marked as default wins.
  const unmark =
    config.agents?.list?.[ids.indexOf(id)]?.default === true ? `${setDefault(ids.indexOf(id), false)} && ` : "";
  return new OpenClawError("agent.needed", `agent "${id}" cannot be removed: it is the default agent`, {
    hint:
      other < 0
        ? "add another one first: openclaw agents add support"
        : `make another one the default first: ${unmark}${setDefault(other, true)}`,
  });
}

function setDefault(index: number, value: boolean): string {
  return `openclaw config set 'agents.list[${index}].default' ${value}`;
}
