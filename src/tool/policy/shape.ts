// What the policy engine reads and what it answers: plain shapes that the config satisfies, so it can be tested alone.

export type Profile = "minimal" | "coding" | "messaging" | "full";

/** One `{allow, deny, alsoAllow}` object, wherever it stands in the config. */
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
  /** Each channel nests its groups in its own way; `room.ts` walks them. */
  readonly channels?: object | undefined;
}

export interface PluginTools {
  readonly id: string;
  readonly tools: readonly { readonly name: string; readonly optional?: boolean | undefined }[];
}

/** All tools there are. `core` may be any set or map keyed by name. */
export interface ToolUniverse {
  readonly core: { has(name: string): boolean; keys(): Iterable<string> };
  readonly plugins: readonly PluginTools[];
}

/** The group, room or channel a session speaks in. Ids must be the platform's immutable ones, never display names. */
export interface GroupContext {
  readonly channel: string;
  readonly accountId?: string | undefined;
  readonly groupId: string;
  readonly guildId?: string | undefined;
  readonly teamId?: string | undefined;
  /** Forum topic inside the group. */
  readonly topicId?: string | undefined;
  /** The channel a thread hangs under; its policy holds where the thread has none. */
  readonly parentId?: string | undefined;
  readonly senderIds: readonly string[];
}

/** A list that comes with the call itself (a cron job's `toolsAllow`, a hook): it can only narrow. */
export interface CallLimit {
  /** Where it is written, for people. */
  readonly path: string;
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export interface PolicyInput {
  readonly config: PolicyConfig;
  readonly universe: ToolUniverse;
  readonly agentId: string;
  /** `provider/model` actually used for this attempt; ask again on fail-over. Without one, provider rules do not apply. */
  readonly model?: string | undefined;
  readonly group?: GroupContext | undefined;
  readonly sandboxed: boolean;
  readonly subagent: boolean;
  /** Each narrows for itself. */
  readonly limit?: CallLimit | readonly CallLimit[] | undefined;
}

/** Two gates, the nine layers of the documents in their order, and the caller's own limit. */
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

export interface Rule {
  /** Config path such as `tools.deny[0]`, or `built-in` where no key holds the rule. */
  readonly path: string;
  readonly entry: string;
}

export interface LayerVerdict {
  readonly layer: LayerName;
  /** The config object or list this layer read, when there is one. */
  readonly path?: string;
  readonly verdict: "pass" | "block" | "not-set" | "not-applicable" | "ignored";
  readonly rule?: Rule;
  readonly note?: string;
}

/** `add` and `remove` act on one entry of the list at `path`; `remove` without a value takes the key away; `set` replaces. */
export interface Edit {
  readonly op: "add" | "remove" | "set";
  readonly path: string;
  readonly value?: string | readonly string[];
}

export interface Fix {
  /** One sentence. */
  readonly summary: string;
  /** Applied together they turn the answer round. Empty when no edit of the config can. */
  readonly edits: readonly Edit[];
  /** The touched keys as they read afterwards; no value means the key is gone. */
  readonly after: readonly { readonly path: string; readonly value?: string | readonly string[] }[];
  readonly command?: string;
}

/** Plain JSON, the same for the same input. */
export interface Decision {
  readonly tool: string;
  readonly allowed: boolean;
  readonly layers: readonly LayerVerdict[];
  /** The first layer that blocked. Absent when allowed. */
  readonly decidedBy?: {
    readonly layer: LayerName;
    readonly path: string;
    readonly entry?: string;
    readonly reason: string;
  };
  readonly fix?: Fix;
  readonly warnings: readonly string[];
}
