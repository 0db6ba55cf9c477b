// The keys that all chat channels share, with defaults that differ by channel.
import { onOffAuto } from "../commands.ts";
import { choice, closed, flag, group, ids, number, overriding, record, section, text, texts, whole } from "../field.ts";
import { groupToolRules } from "../tools.ts";

type Shape = Parameters<typeof closed>[0];

export interface ChannelDefaults {
  readonly textChunkLimit: number;
  readonly mediaMaxMb: number;
  readonly tables?: "code" | "bullets" | "off";
}

/** A channel: its keys, and the same keys per account, where they override. */
export const channel = <Properties extends Shape>(description: string, properties: Properties) =>
  group(description, {
    ...properties,
    accounts: record(
      "Accounts by id; each overrides the keys above.",
      overriding(closed({ ...properties, name: text("Display name.") }), "One account."),
    ),
  });

/** Keys with the same meaning on every channel. */
export const chatKeys = ({ textChunkLimit, mediaMaxMb, tables = "code" }: ChannelDefaults) => ({
  enabled: flag("Enables this channel.", { default: true }),
  name: text("Display name."),
  configWrites: flag("Allows chats of this channel to change the config.", { default: true }),
  groupPolicy,
  historyLimit: whole("Number of earlier group messages that the agent sees; 0 for none.", {
    fallback: "messages.groupChat.historyLimit",
  }),
  dmHistoryLimit: whole("Number of turns of a direct chat to keep.", { fallback: "no limit" }),
  dms: record("Settings per sender.", closed({ historyLimit: whole("Number of turns of this direct chat to keep.") })),
  textChunkLimit: whole("Maximum number of characters per sent message.", { default: textChunkLimit, minimum: 1 }),
  chunkMode: choice("Splits by length only, or at blank lines first.", ["length", "newline"], { default: "length" }),
  blockStreaming: flag("Sends finished parts of a reply immediately.", {
    fallback: "agents.defaults.blockStreamingDefault",
  }),
  blockStreamingCoalesce: group("Merging of small parts.", {
    minChars: whole("Waits for this many characters."),
    maxChars: whole("Sends at this many characters."),
    idleMs: whole("Sends after this many milliseconds without new text."),
  }),
  mediaMaxMb: number("Maximum size of media in megabytes.", { default: mediaMaxMb, minimum: 0 }),
  responsePrefix: text("Prefix of replies; empty for none.", { fallback: "messages.responsePrefix" }),
  markdown: section("How Markdown is converted.", {
    tables: choice("Tables.", ["code", "bullets", "off"], { default: tables }),
  }),
  heartbeat: overriding(heartbeatVisibility),
  capabilities: texts("Capabilities to assume."),
});

export const groupPolicy = choice("Which groups may use the agent.", ["allowlist", "open", "disabled"], {
  fallback: "channels.defaults.groupPolicy",
});

const dmPolicies = ["pairing", "allowlist", "open", "disabled"] as const;

/** Direct chats on channels with keys at the top level. */
export const flatDmKeys = (who: string) => ({
  dmPolicy: choice("Who may write directly.", dmPolicies, { default: "pairing" }),
  allowFrom: ids(`Senders who may write directly: ${who}; * means everyone.`),
  groupAllowFrom: ids("Senders who may use the agent in groups.", { fallback: "allowFrom" }),
});

/** Direct chats on channels with keys under `dm`. */
export const dmSection = <Extra extends Shape>(who: string, extra: Extra) =>
  section("Direct chats.", {
    enabled: flag("Replies to direct chats.", { default: true }),
    policy: choice("Who may write directly.", dmPolicies, { default: "pairing" }),
    allowFrom: ids(`Senders who may write directly: ${who}; * means everyone.`),
    ...extra,
  });

/** `groupEnabled` and `groupChannels` of Discord and Slack. */
export const groupDmKeys = {
  groupEnabled: flag("Replies to group direct chats.", { default: false }),
  groupChannels: ids("Only these group direct chats."),
};

/** Settings of one group, room or channel. */
export const placeKeys = {
  enabled: flag("Listens here."),
  requireMention: flag("Replies only when mentioned.", { fallback: "true" }),
  skills: texts("Skills available here; by default all, an empty list means none."),
  systemPrompt: text("Text that is added to the system prompt here."),
  ...groupToolRules,
};

export const replyToMode = (value: "off" | "first" | "all") =>
  choice("Which parts of a reply quote the message.", ["off", "first", "all"], { default: value });

export const retry = (minDelayMs: number) =>
  section("Retries.", {
    attempts: whole("Tries.", { default: 3, minimum: 1 }),
    minDelayMs: whole("Milliseconds before the first retry.", { default: minDelayMs }),
    maxDelayMs: whole("Maximum delay in milliseconds.", { default: 30_000 }),
    jitter: number("Share of random variation.", { default: 0.1, minimum: 0, maximum: 1 }),
  });

export const nativeCommands = group("Slash commands in the platform's menu.", {
  native: onOffAuto("Registers commands."),
  nativeSkills: onOffAuto("Registers skills, too."),
});

export const reactionNotifications = <const Values extends string[]>(values: readonly [...Values]) =>
  choice("Reactions that the agent is notified of.", values, { default: "own" });

export const reactionLevel = choice("How the agent may react.", ["off", "ack", "minimal", "extensive"], {
  default: "minimal",
});

/** Action switches with their defaults. */
export const actions = <const On extends string, const Off extends string = never>(
  on: readonly On[],
  off: readonly Off[] = [],
) => {
  const gate = (name: string, value: boolean) => [name, flag(`Actions of ${name}.`, { default: value })] as const;
  const gates = Object.fromEntries([...on.map((name) => gate(name, true)), ...off.map((name) => gate(name, false))]);
  return section("Actions that the agent may take here.", gates as Record<On | Off, ReturnType<typeof flag>>);
};

export const heartbeatVisibility = group("What heartbeats show in chats.", {
  showOk: flag("Shows heartbeats without alerts.", { default: false }),
  showAlerts: flag("Shows alerts.", { default: true }),
  useIndicator: flag("Shows the heartbeat indicator in apps.", { default: true }),
});
