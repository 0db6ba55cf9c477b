// `channels.discord`.
import { choice, closed, flag, group, ids, record, secret, text, texts, whole } from "../field.ts";
import {
  actions,
  channel,
  chatKeys,
  dmSection,
  groupDmKeys,
  nativeCommands,
  placeKeys,
  reactionNotifications,
  replyToMode,
  retry,
} from "./chat-keys.ts";

const place = closed({
  ...placeKeys,
  allow: flag("Listen here."),
  users: ids("Only these people."),
  autoThread: flag("Answer in a thread of its own."),
  includeThreadStarter: flag("Give the first message of a thread as context."),
});

const guild = closed({
  ...placeKeys,
  slug: text("Name of the server, in short."),
  reactionNotifications: choice("Reactions the agent hears of.", ["off", "own", "all", "allowlist"]),
  users: ids("Only these people."),
  channels: record("Channels by id or name; * means the others.", place),
});

export const discord = channel("Discord.", {
  ...chatKeys({ textChunkLimit: 2000, mediaMaxMb: 8 }),
  token: secret("Bot token; else DISCORD_BOT_TOKEN."),
  apiRoot: text("Root of the service, for a stand-in."),
  proxy: secret("Proxy; may carry a password."),
  allowBots: flag("Answer other bots.", { default: false }),
  maxLinesPerMessage: whole("Lines per message sent.", { default: 17, minimum: 1 }),
  replyToMode: replyToMode("off"),
  retry: retry(500),
  commands: nativeCommands,
  dm: dmSection("ids, names or tags", groupDmKeys),
  guilds: record("Servers by id or name; * means the others.", guild),
  reactionNotifications: reactionNotifications(["off", "own", "all", "allowlist"]),
  intents: group("Privileged events.", {
    presence: flag("Who is online."),
    guildMembers: flag("Members of servers."),
  }),
  pluralkit: group("PluralKit.", { enabled: flag("Resolve proxied messages."), token: secret("Its token.") }),
  execApprovals: group("Approvals by buttons in direct chats.", {
    enabled: flag("Send them."),
    approvers: ids("People who may decide."),
    agentFilter: texts("Only for these agents."),
    sessionFilter: texts("Only for sessions whose key contains or matches one of these."),
  }),
  actions: actions(
    [
      "reactions",
      "stickers",
      "emojiUploads",
      "stickerUploads",
      "polls",
      "permissions",
      "threads",
      "pins",
      "search",
      "messages",
      "memberInfo",
      "roleInfo",
      "voiceStatus",
      "events",
      "channelInfo",
    ],
    ["channels", "roles", "moderation", "presence"],
  ),
});
