// What the policy engine reads and returns: plain types that the config satisfies, so that it can be tested alone.

import type { Decision as WireDecision, LayerVerdict as WireLayerVerdict } from "../../protocol/methods/tools.ts";
export type Profile = "minimal" | "coding" | "messaging" | "full";

/** One `{allow, deny, alsoAllow}` object, anywhere in the config. */
export interface ToolLists {
  readonly allow?: readonly string[] | undefined;
  readonly alsoAllow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export interface ScopedTools extends ToolLists {
  readonly profile?: Profile | undefined;
}

export interface ToolsSection extends ScopedTools {
  readonly byProvider?: Readonly<Record<string, ScopedTools>> | undefined;
  readonly sandbox?: { readonly tools?: ToolLists | undefined } | undefined;
}

export interface PolicyConfig {
  readonly tools?:
    | (ToolsSection & { readonly subagents?: { readonly tools?: ToolLists | undefined } | undefined })
    | undefined;
  readonly agents?:
    | {
        readonly list?: readonly { readonly id: string; readonly tools?: ToolsSection | undefined }[] | undefined;
        readonly defaults?:
          | { readonly contextPruning?: { readonly tools?: ToolLists | undefined } | undefined }
          | undefined;
      }
    | undefined;
  /** Each channel nests its groups in its own way; group.ts reads them. */
  readonly channels?: object | undefined;
}

export interface PluginTools {
  readonly id: string;
  readonly tools: readonly { readonly name: string; readonly optional?: boolean | undefined }[];
  /** An MCP server: its tools are in `group:mcp`, and a list may name one before it is known. */
  readonly mcp?: true;
}

/** All tools that exist. `core` may be any set or map keyed by name. */
export interface ToolUniverse {
  readonly core: { has(name: string): boolean; keys(): Iterable<string> };
  readonly plugins: readonly PluginTools[];
}

/** The group or channel of a session. Ids must be the platform's immutable ones, never display names. */
export interface GroupContext {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly groupId: string;
  readonly guildId?: string | undefined;
  readonly teamId?: string | undefined;
  /** Forum topic inside the group. */
  readonly topicId?: string | undefined;
  /** The parent channel of a thread; its policy applies when the thread has none. */
  readonly parentId?: string | undefined;
  readonly senderIds: readonly string[];
}

/** A list that comes with the call itself (a cron job's `toolsAllow`, a hook): it can only narrow. */
export interface CallLimit {
  /** Where it is written, for messages. */
  readonly path: string;
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export interface PolicyInput {
  readonly config: PolicyConfig;
  readonly universe: ToolUniverse;
  readonly agentId: string;
  /** `provider/model` actually used for this attempt; decide again after failover. Without one, provider rules do not apply. */
  readonly model?: string | undefined;
  readonly group?: GroupContext | undefined;
  readonly sandboxed: boolean;
  readonly subagent: boolean;
  /** Each limit narrows on its own. */
  readonly limit?: CallLimit | readonly CallLimit[] | undefined;
}

/** Two gates, the nine layers of the documentation in order, and the limit of the call. */
export const layerNames = [
  "known",
  "optional",
  "profile",
  "provider-profile",
  "global",
  "global-provider",
  "agent",
  "agent-provider",
  "group",
  "sandbox",
  "subagent",
  "limit",
] as const;
export type LayerName = (typeof layerNames)[number];

export type { PolicyEdit as Edit, PolicyFix as Fix, PolicyRule as Rule } from "../../protocol/methods/tools.ts";
export type LayerVerdict = WireLayerVerdict<LayerName>;
export type Decision = WireDecision<LayerName>;
