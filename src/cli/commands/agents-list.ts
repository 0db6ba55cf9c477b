// `openclaw agents list`: lists the agents of the config; needs no gateway.
import { agentRows, type AgentRow } from "../agent-rows.ts";
import { defineCommand } from "../command.ts";
import type { Io } from "../io.ts";
import { shortPath, table, toJson } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details: "Reads the config; no gateway is needed.",
  options: {
    bindings: { type: "boolean", description: "Also show which conversations each one answers." },
  },
  examples: [
    { line: "agents list --bindings", does: "with their bindings" },
    { line: "agents --json", does: "as JSON" },
  ],
  async run(io, { options }) {
    const { config } = await requireConfig(io);
    const rows = agentRows(config, io.paths());
    if (io.json) io.print(toJson(rows));
    else io.print(table(rows, shape(io, options.bindings === true), io).join("\n"));
    return 0;
  },
});

function shape(io: Io, withBindings: boolean) {
  return [
    { title: "Agent", text: ({ id, isDefault }: AgentRow) => (isDefault ? `${id} (default)` : id) },
    { title: "Name", text: ({ name }: AgentRow) => name ?? "" },
    { title: "Model", text: ({ model }: AgentRow) => model ?? "first available" },
    ...(withBindings ? [{ title: "Bound to", text: ({ bindings }: AgentRow) => bindings.join("; ") || "none" }] : []),
    { title: "Workspace", text: ({ workspace }: AgentRow) => shortPath(workspace, io) },
  ];
}
