// The keys every chat channel shares, with the defaults in which channels differ.
import { onOffAuto } from "../commands.ts";
import { choice, closed, flag, group, ids, number, overriding, record, section, text, texts, whole } from "../field.ts";
import { groupToolRules } from "../tools.ts";

type Shape = Parameters<typeof closed>[0];

export interface ChannelDefaults {
  readonly textChunkLimit: number;
  readonly mediaMaxMb: number;
  readonly tables?: "code" | "bullets" | "off";
}

/** A channel: its keys, and the same keys again per account, where they override. */
export const channel = <Properties extends Shape>(description: string, properties: Properties) =>
  group(description, {
    ...properties,
    accounts: record(
      "Accounts by id; each overrides the keys above.",
      overriding(closed({ ...properties, name: text("Name shown to people.") }), "One account."),
    ),
  });

/** Keys that mean the same on every channel. */
export const chatKeys = ({ textChunkLimit, mediaMaxMb, tables = "code" }: ChannelDefaults) => ({
  enabled: flag("Use this channel.", { default: true }),
  name: text("Name shown to people."),
  configWrites: flag("Let chats of this channel change the config.", { default: true }),
  groupPolicy,
  historyLimit: whole("Messages of group context given; 0 none.", { fallback: "messages.groupChat.historyLimit" }),
  dmHistoryLimit: whole("Turns of a direct chat kept.", { fallback: "no limit" }),
  dms: record("Settings per person.", closed({ historyLimit: whole("Turns of this direct chat kept.") })),
  textChunkLimit: whole("Characters per message sent.", { default: textChunkLimit, minimum: 1 }),
  chunkMode: choice("Cut by length only, or at blank lines first.", ["length", "newline"], { default: "length" }),
  blockStreaming: flag("Send finished parts of a reply at once.", {
    fallback: "agents.defaults.blockStreamingDefault",
  }),
  blockStreamingCoalesce: group("Joining of small parts.", {
    minChars: whole("Wait for so many characters."),
    maxChars: whole("Send at so many characters."),
    idleMs: whole("Send after so many milliseconds of quiet."),
  }),
  mediaMaxMb: number("Megabytes of media.", { default: mediaMaxMb, minimum: 0 }),
  responsePrefix: text("Text in front of replies; empty for none.", { fallback: "messages.responsePrefix" }),
  markdown: section("How Markdown is shown.", {
    tables: choice("Tables.", ["code", "bullets", "off"], { default: tables }),
  }),
  heartbeat: overriding(heartbeatVisibility),
  capabilities: texts("Abilities to assume."),
});

export const groupPolicy = choice("Which groups may talk to the agent.", ["allowlist", "open", "disabled"], {
  fallback: "channels.defaults.groupPolicy",
});

const dmPolicies = ["pairing", "allowlist", "open", "disabled"] as const;

/** Direct chats on channels that keep their keys at the top. */
export const flatDmKeys = (who: string) => ({
  dmPolicy: choice("Who may write directly.", dmPolicies, { default: "pairing" }),
  allowFrom: ids(`People who may write directly: ${who}; * means everybody.`),
  groupAllowFrom: ids("People who may talk to the agent in groups.", { fallback: "allowFrom" }),
});

/** Direct chats on channels that keep their keys under `dm`. */
export const dmSection = <Extra extends Shape>(who: string, extra: Extra) =>
  section("Direct chats.", {
    enabled: flag("Answer direct chats.", { default: true }),
    policy: choice("Who may write directly.", dmPolicies, { default: "pairing" }),
    allowFrom: ids(`People who may write directly: ${who}; * means everybody.`),
    ...extra,
  });

/** `groupEnabled` and `groupChannels` of Discord and Slack. */
export const groupDmKeys = {
  groupEnabled: flag("Answer group direct chats.", { default: false }),
  groupChannels: ids("Only these group direct chats."),
};

/** What one group, room or channel of a platform may set. */
export const placeKeys = {
  enabled: flag("Listen here."),
  requireMention: flag("Answer only when mentioned.", { fallback: "true" }),
  skills: texts("Skills used here; unset means all, empty none."),
  systemPrompt: text("What is added to the system prompt here."),
  ...groupToolRules,
};

export const replyToMode = (value: "off" | "first" | "all") =>
  choice("Which parts of a reply quote the message.", ["off", "first", "all"], { default: value });

export const retry = (minDelayMs: number) =>
  section("Trying again.", {
    attempts: whole("Tries.", { default: 3, minimum: 1 }),
    minDelayMs: whole("Milliseconds before the first one.", { default: minDelayMs }),
    maxDelayMs: whole("Milliseconds before one at most.", { default: 30_000 }),
    jitter: number("Share of chance in it.", { default: 0.1, minimum: 0, maximum: 1 }),
  });

export const nativeCommands = group("Slash commands in the platform's menu.", {
  native: onOffAuto("Register commands."),
  nativeSkills: onOffAuto("Register skills too."),
});

export const reactionNotifications = <const Values extends string[]>(values: readonly [...Values]) =>
  choice("Reactions the agent hears of.", values, { default: "own" });

export const reactionLevel = choice("How the agent may react.", ["off", "ack", "minimal", "extensive"], {
  default: "minimal",
});

/** Action gates: a missing key means what the default says. */
export const actions = <const On extends string, const Off extends string = never>(
  on: readonly On[],
  off: readonly Off[] = [],
) => {
  const gate = (name: string, value: boolean) => [name, flag(`Actions of ${name}.`, { default: value })] as const;
  const gates = Object.fromEntries([...on.map((name) => gate(name, true)), ...off.map((name) => gate(name, false))]);
  return section("What the agent may do here.", gates as Record<On | Off, ReturnType<typeof flag>>);
};

export const heartbeatVisibility = group("What heartbeats show in chats.", {
  showOk: flag("Show that all is well.", { default: false }),
  showAlerts: flag("Show alerts.", { default: true }),
  useIndicator: flag("Show the sign of life in apps.", { default: true }),
});
