// `openclaw agents add`: adds an agent to the config, with its own workspace.
import { mkdirSync } from "node:fs";

import { OpenClawError } from "../../core/error.ts";
import { DEFAULT_AGENT, parseAgentId } from "../../core/names.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import type { Edit } from "../../config/edit.ts";
import { bindingFrom } from "../binding.ts";
import { defineCommand } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { shortPath } from "../print.ts";
import { parseModelRef } from "../model-choice.ts";

export const command = defineCommand({
  details: "The agent gets its own workspace, sessions and tool policy. The default agent stays the same.",
  arguments: [{ name: "id", description: "Letters, digits, - and _, such as support." }],
  options: {
    name: { type: "string", value: "name", description: "Name shown to people." },
    workspace: {
      type: "string",
      value: "folder",
      description: "Folder to work in (default: workspace-<id> in the state folder).",
    },
    "agent-dir": {
      type: "string",
      value: "folder",
      description: "Folder for its state (default: agents/<id>/agent in the state folder).",
    },
    model: { type: "string", value: "provider/model", description: "Model it uses (default: the shared model)." },
    bind: {
      type: "string",
      multiple: true,
      value: "channel[:account]",
      description: "A channel that it answers.",
    },
    "non-interactive": { type: "boolean", description: "Accepted for scripts; this command never asks." },
  },
  examples: [
    { line: "agents add support --name 'Help desk' --model openai/gpt-5.2", does: "with its own model" },
    { line: "agents add ops --workspace ~/ops --bind telegram:ops", does: "in a folder you have, bound to an account" },
  ],
  async run(io, { options, arguments: [raw = ""] }) {
    const id = parseAgentId(raw);
    const { name, workspace, model, bind = [], "agent-dir": agentDir } = options;
    if (model !== undefined) parseModelRef(model, ["agents", "add"]);
    const entry = {
      id,
      ...(name === undefined ? {} : { name }),
      ...(workspace === undefined ? {} : { workspace }),
      ...(agentDir === undefined ? {} : { agentDir }),
      ...(model === undefined ? {} : { model }),
    };
    const change = editConfig(io, "agents.list", ({ config }) => {
      const list = config.agents?.list ?? [];
      if (agentIds(config).includes(id))
        throw new OpenClawError("agent.exists", `agent "${id}" already exists`, {
          hint: `openclaw config get agents.list, or choose another id`,
        });
      // Without a list there is only the agent main; with a list, only the agents in it exist.
      const first: readonly Edit[] =
        list.length === 0 ? [{ path: ["agents", "list"], value: [{ id: DEFAULT_AGENT, default: true }] }] : [];
      const bindings = [...(config.bindings ?? []), ...bind.map((words) => bindingFrom(id, words))];
      return [
        ...first,
        { path: ["agents", "list", Math.max(1, list.length)], value: entry },
        ...(bind.length === 0 ? [] : [{ path: ["bindings"], value: bindings }]),
      ];
    });
    const folder = workspaceOf(change.after.config, id, io.paths());
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    reportChange(io, change, `added agent ${id} with workspace ${shortPath(folder, io)}`);
    return 0;
  },
});
