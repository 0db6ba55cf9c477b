// `channels.slack`.
import { choice, closed, flag, group, ids, record, secret, section, text } from "../field.ts";
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
} from "./chat-keys.ts";

const replyMode = (what: string) => choice(`For ${what}.`, ["off", "first", "all"]);

const place = closed({
  ...placeKeys,
  allow: flag("Listens here."),
  allowBots: flag("Replies to other bots here."),
  users: ids("Only these senders."),
});

export const slack = channel("Slack.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 20 }),
  mode: choice("Connects over a socket or over HTTP.", ["socket", "http"], { default: "socket" }),
  botToken: secret("Bot token (xoxb-). By default SLACK_BOT_TOKEN from the environment."),
  appToken: secret("App token (xapp-). By default SLACK_APP_TOKEN from the environment."),
  userToken: secret("User token (xoxp-), for reading."),
  userTokenReadOnly: flag("Never writes with the user token.", { default: true }),
  signingSecret: secret("Secret that signs HTTP requests."),
  webhookPath: text("URL path of HTTP requests.", { default: "/slack/events" }),
  slackApiUrl: text("Base URL of the service, for tests."),
  allowBots: flag("Replies to other bots.", { default: false }),
  requireMention: flag("Replies in channels only when mentioned.", { fallback: "true" }),
  dm: dmSection("ids, @names or mail addresses", {
    ...groupDmKeys,
    replyToMode: choice("Legacy place of replyToMode.", ["off", "first", "all"]),
  }),
  channels: record("Channels by id or name; * means all other channels.", place),
  reactionNotifications: reactionNotifications(["off", "own", "all", "allowlist"]),
  reactionAllowlist: ids("Senders whose reactions count for allowlist."),
  replyToMode: replyToMode("off"),
  replyToModeByChatType: group("The same by kind of chat.", {
    direct: replyMode("direct chats"),
    group: replyMode("group direct chats"),
    channel: replyMode("channels"),
  }),
  thread: section("Threads.", {
    historyScope: choice("Context of a thread: its own or the channel's.", ["thread", "channel"], {
      default: "thread",
    }),
    inheritParent: flag("Starts the session of a thread from the channel's.", { default: false }),
  }),
  slashCommand: section("The slash command.", {
    enabled: flag("Enables the command.", { fallback: "off" }),
    name: text("Name of the command.", { default: "openclaw" }),
    sessionPrefix: text("Prefix of its session keys.", { default: "slack:slash" }),
    ephemeral: flag("Replies visibly only to the sender.", { default: true }),
  }),
  commands: nativeCommands,
  actions: actions(["reactions", "messages", "pins", "memberInfo", "emojiList"]),
});
