// `openclaw agents set-identity`: sets name, theme, emoji and avatar of an agent, from flags or its IDENTITY.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { parseAgentId, type AgentId } from "../../core/names.ts";
import { expandHome } from "../../base/paths.ts";
import { agentIds, defaultAgentId, workspaceOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { requireAgent } from "../agent-rows.ts";
import { defineCommand, UsageError } from "../command.ts";
import { editConfig, reportChange } from "../config-change.ts";
import { readIdentityCard, type IdentityCard } from "../identity-card.ts";
import type { Io } from "../io.ts";
import { shortPath } from "../print.ts";
import { requireConfig } from "../settings.ts";

export const command = defineCommand({
  details: "Flags win over IDENTITY.md. Fields that are not given stay unchanged.",
  options: {
    agent: { type: "string", value: "id", description: "The agent (default: the default agent)." },
    workspace: { type: "string", value: "folder", description: "The agent whose workspace is this folder." },
    "from-identity": { type: "boolean", description: "Read IDENTITY.md of the workspace." },
    "identity-file": { type: "string", value: "file", description: "Read this file instead." },
    name: { type: "string", value: "name", description: "Name of the agent." },
    theme: { type: "string", value: "words", description: "Character of the agent in a few words." },
    emoji: { type: "string", value: "emoji", description: "Emoji of the agent." },
    avatar: { type: "string", value: "picture", description: "A path in the workspace, a URL or a data URI." },
  },
  examples: [
    { line: "agents set-identity --agent support --name Molly --emoji 🦀", does: "from flags" },
    { line: "agents set-identity --workspace ~/ops --from-identity", does: "from IDENTITY.md" },
  ],
  async run(io, { options }) {
    const { config } = await requireConfig(io);
    const id = agentOf(config, io, options);
    const { name, theme, emoji, avatar } = options;
    const given = Object.entries({ name, theme, emoji, avatar }).filter(([, value]) => value !== undefined);
    const card: IdentityCard = { ...readCard(config, id, io, options), ...Object.fromEntries(given) };
    if (Object.keys(card).length === 0)
      throw new UsageError("nothing to set: give --name, --theme, --emoji, --avatar or --from-identity", [
        "agents",
        "set-identity",
      ]);
    const change = editConfig(io, "agents.list", ({ config: now }) => {
      const list = now.agents?.list ?? [];
      const at = list.findIndex((entry) => parseAgentId(entry.id) === id);
      if (at < 0) return [{ path: ["agents", "list"], value: [{ id, default: true, identity: card }] }];
      return Object.entries(card).map(([field, value]) => ({
        path: ["agents", "list", at, "identity", field],
        value: value as string,
      }));
    });
    const words = Object.entries(card).map(([field, value]) => `${field} ${String(value).slice(0, 60)}`);
    reportChange(io, change, `agent ${id}: ${words.join(", ")}`);
    return 0;
  },
});

interface Choice {
  readonly agent?: string | undefined;
  readonly workspace?: string | undefined;
}

function agentOf(config: Config, io: Io, { agent, workspace }: Choice): AgentId {
  if (agent !== undefined) return requireAgent(config, agent);
  if (workspace === undefined) return defaultAgentId(config);
  const folder = expandHome(workspace, io.paths().home);
  const found = agentIds(config).find((id) => workspaceOf(config, id, io.paths()) === folder);
  if (found !== undefined) return found;
  throw new OpenClawError("agent.unknown", `no agent has the workspace ${shortPath(folder, io)}`, {
    hint: "openclaw agents list",
  });
}

function readCard(
  config: Config,
  id: AgentId,
  io: Io,
  options: { readonly "from-identity"?: boolean | undefined; readonly "identity-file"?: string | undefined },
): IdentityCard {
  const named = options["identity-file"];
  if (named === undefined && options["from-identity"] !== true) return {};
  const file =
    named === undefined ? join(workspaceOf(config, id, io.paths()), "IDENTITY.md") : expandHome(named, io.paths().home);
  try {
    return readIdentityCard(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new OpenClawError("file.unreadable", `${shortPath(file, io)} cannot be read`, {
      cause,
      hint: "--identity-file <file>",
    });
  }
}
