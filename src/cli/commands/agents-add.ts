// `openclaw agents add`: one more agent in the config, with a workspace of its own.
import { mkdirSync } from "node:fs";

import { OpenClawError } from "../../core/error.ts";
import { DEFAULT_AGENT, parseAgentId } from "../../core/names.ts";
import { agentIds, workspaceOf } from "../../config/agents.ts";
import type { Edit } from "../../config/edit.ts";
import { bindingFrom } from "../binding.ts";
import { defineCommand } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { checkedRef } from "../model-ref.ts";
import { shortPath } from "../print.ts";

export const command = defineCommand({
  details:
    "It gets a workspace, sessions and tool policy of its own. The agent that answered so far stays the default.",
  arguments: [{ name: "id", description: "Letters, digits, - and _, such as support." }],
  options: {
    name: { type: "string", value: "name", description: "Name shown to people." },
    workspace: { type: "string", value: "folder", description: "Folder it works in (default: its own)." },
    "agent-dir": {
      type: "string",
      value: "folder",
      description: "Folder of its own state (default: its own).",
    },
    model: { type: "string", value: "provider/model", description: "Model it uses (default: the shared model)." },
    bind: {
      type: "string",
      multiple: true,
      value: "channel[:account]",
      description: "A channel it answers; may be given several times.",
    },
    "non-interactive": { type: "boolean", description: "Nothing is asked anyway; taken for scripts that say it." },
  },
  examples: [
    { line: "agents add support --name 'Help desk' --model openai/gpt-5.2", does: "with a model of its own" },
    { line: "agents add ops --workspace ~/ops --bind telegram:ops", does: "in a folder you have, bound to an account" },
  ],
  async run(io, { options, arguments: [raw = ""] }) {
    const id = parseAgentId(raw);
    const { name, workspace, model, bind = [], "agent-dir": agentDir } = options;
    if (model !== undefined) checkedRef(model, ["agents", "add"]);
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
        throw new OpenClawError("agent.exists", `there is an agent "${id}" already`, {
          hint: `openclaw config get agents.list, or choose another id`,
        });
      // Without a list there is one agent, main; with a list there is only what it names.
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
    reportChange(io, change, `added agent ${id}, which works in ${shortPath(folder, io)}`);
    return 0;
  },
});
