// Decides who may leave the sandbox and lists every gate that is closed for this sender, by config key. Pure.
import type { AgentId } from "../core/names.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";

export interface Gate {
  readonly key: string;
  readonly why: string;
}

export interface Elevation {
  readonly open: boolean;
  /** Only the closed ones. */
  readonly gates: readonly Gate[];
  /** The channel whose allow list was used. */
  readonly channel: string;
}

export interface ElevationFacts {
  readonly config: Config;
  readonly agent: AgentId;
  /** Where the message came from; the gateway's own page and clients are `webchat`. */
  readonly channel: string | undefined;
  /** Every id of the sender, never the ids of recipients. Empty for an unknown sender. */
  readonly senders: readonly string[];
  readonly subagent: boolean;
  /** What the tool policy decided about `exec`, with the key of the denying rule. */
  readonly execAllowed: boolean;
  readonly execKey?: string | undefined;
}

export function elevationOf({ config, agent, senders, subagent, ...facts }: ElevationFacts): Elevation {
  const channel = facts.channel?.trim().toLowerCase() || "webchat";
  const shared = config.tools?.elevated;
  const own = agentConfig(config, agent)?.tools?.elevated;
  const ownList = own?.allowFrom?.[channel];
  const { list, key } = sharedList(config, channel);
  const names = senders.map((sender) => plainName(sender, channel)).filter((name) => name !== "");
  const unlisted = "this sender is not listed";
  const gates = [
    gate(shared?.enabled !== false, "tools.elevated.enabled", "it is false"),
    gate(isListed(list, names, channel), key, unlisted),
    gate(own?.enabled !== false, "agents.list[].tools.elevated.enabled", "it is false"),
    gate(
      ownList === undefined || isListed(ownList, names, channel),
      `agents.list[].tools.elevated.allowFrom.${channel}`,
      unlisted,
    ),
    gate(facts.execAllowed, facts.execKey ?? "tools.allow", "exec is not allowed here"),
    gate(!subagent, "session", "subagents are never elevated"),
  ].flat();
  return { open: gates.length === 0, gates, channel };
}

function gate(open: boolean, key: string, why: string): Gate[] {
  return open ? [] : [{ key, why }];
}

type Ids = readonly (string | number)[];

/**
 * Only for Discord: `dm.allowFrom` applies as long as `tools.elevated.allowFrom.discord` is not set, not even to an
 * empty list.
 */
function sharedList(config: Config, channel: string): { readonly list: Ids | undefined; readonly key: string } {
  const key = `tools.elevated.allowFrom.${channel}`;
  const list = config.tools?.elevated?.allowFrom?.[channel];
  if (list !== undefined || channel !== "discord") return { list, key };
  return { list: config.channels?.discord?.dm?.allowFrom, key };
}

function isListed(list: Ids | undefined, names: readonly string[], channel: string): boolean {
  return (list ?? []).some((entry) => {
    const wanted = plainName(String(entry), channel);
    return wanted === "*" || (wanted !== "" && names.includes(wanted));
  });
}

/** `telegram:@Ada`, `@ada` and `ada` are the same name on Telegram. */
function plainName(raw: string, channel: string): string {
  const name = raw.trim().toLowerCase();
  const own = name.startsWith(`${channel}:`) ? name.slice(channel.length + 1) : name;
  return own.replace(/^@/, "");
}
