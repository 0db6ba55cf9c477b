// The agents of a config as table rows: id, workspace, model and bindings.
import type { Paths } from "../base/paths.ts";
import { agentConfig, agentIds, defaultAgentId, workspaceOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { OpenClawError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { parseAgentId, type AgentId } from "../core/names.ts";

export type Binding = NonNullable<Config["bindings"]>[number];

export interface AgentRow {
  readonly id: AgentId;
  readonly name?: string;
  readonly isDefault: boolean;
  readonly workspace: string;
  readonly model?: string;
  readonly bindings: readonly string[];
}

export function agentRows(config: Config, paths: Paths): AgentRow[] {
  const fallback = defaultAgentId(config);
  return agentIds(config).map((id) => {
    const entry = agentConfig(config, id);
    const name = entry?.name ?? entry?.identity?.name;
    const model = primaryOf(entry?.model) ?? primaryOf(config.agents?.defaults?.model);
    return {
      id,
      ...(name === undefined ? {} : { name }),
      isDefault: id === fallback,
      workspace: workspaceOf(config, id, paths),
      ...(model === undefined ? {} : { model }),
      bindings: (config.bindings ?? []).filter((binding) => sameAgent(binding, id)).map(bindingText),
    };
  });
}

export function primaryOf(choice: string | { readonly primary?: string } | undefined): string | undefined {
  return typeof choice === "string" ? choice : choice?.primary;
}

export function sameAgent({ agentId }: Binding, id: AgentId): boolean {
  return agentId.trim().toLowerCase() === id;
}

/** `telegram account work group -100123` */
export function bindingText({ match }: Binding): string {
  const { channel, accountId, peer, guildId, teamId } = match;
  return [
    channel,
    ...(accountId === undefined ? [] : ["account", accountId]),
    ...(peer === undefined ? [] : [peer.kind ?? "peer", peer.id ?? "*"]),
    ...(guildId === undefined ? [] : ["server", guildId]),
    ...(teamId === undefined ? [] : ["team", teamId]),
  ].join(" ");
}

/** Throws `agent.unknown` with the known ids (docs/decisions/0031-unknown-agent-creates-nothing.md). */
export function requireAgent(config: Config, raw: string): AgentId {
  const id = parseAgentId(raw);
  const known = agentIds(config);
  if (known.includes(id)) return id;
  const near = nearest(id, known);
  throw new OpenClawError("agent.unknown", `there is no agent "${id}"; known: ${known.join(", ")}`, {
    hint: near === undefined ? `openclaw agents add ${id}` : `did you mean ${near}?`,
  });
}
