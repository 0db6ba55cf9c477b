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
  allow: flag("Listens here."),
  users: ids("Only these senders."),
  autoThread: flag("Replies in a new thread."),
  includeThreadStarter: flag("Includes the first message of a thread as context."),
});

const guild = closed({
  ...placeKeys,
  slug: text("Short name of the server."),
  reactionNotifications: choice("Reactions that the agent is notified of.", ["off", "own", "all", "allowlist"]),
  users: ids("Only these senders."),
  channels: record("Channels by id or name; * means all other channels.", place),
});

export const discord = channel("Discord.", {
  ...chatKeys({ textChunkLimit: 2000, mediaMaxMb: 8 }),
  token: secret("Bot token. By default DISCORD_BOT_TOKEN from the environment."),
  apiRoot: text("Base URL of the service, for tests."),
  proxy: secret("Proxy URL; may contain a password."),
  allowBots: flag("Replies to other bots.", { default: false }),
  maxLinesPerMessage: whole("Maximum number of lines per sent message.", { default: 17, minimum: 1 }),
  replyToMode: replyToMode("off"),
  retry: retry(500),
  commands: nativeCommands,
  dm: dmSection("ids, names or tags", groupDmKeys),
  guilds: record("Servers by id or name; * means all other servers.", guild),
  reactionNotifications: reactionNotifications(["off", "own", "all", "allowlist"]),
  intents: group("Privileged events.", {
    presence: flag("Presence of users."),
    guildMembers: flag("Members of servers."),
  }),
  pluralkit: group("PluralKit.", {
    enabled: flag("Resolves proxied messages."),
    token: secret("Token of the service."),
  }),
  execApprovals: group("Approvals by buttons in direct chats.", {
    enabled: flag("Sends approval requests."),
    approvers: ids("Users who may decide."),
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
