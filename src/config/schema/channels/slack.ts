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
  allow: flag("Listen here."),
  allowBots: flag("Answer other bots here."),
  users: ids("Only these people."),
});

export const slack = channel("Slack.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 20 }),
  mode: choice("Over a socket or over HTTP.", ["socket", "http"], { default: "socket" }),
  botToken: secret("Bot token (xoxb-); else SLACK_BOT_TOKEN."),
  appToken: secret("App token (xapp-); else SLACK_APP_TOKEN."),
  userToken: secret("User token (xoxp-), for reading."),
  userTokenReadOnly: flag("Never write with the user token.", { default: true }),
  signingSecret: secret("Secret that signs requests over HTTP."),
  webhookPath: text("Path for requests over HTTP.", { default: "/slack/events" }),
  slackApiUrl: text("Root of the service, for a stand-in."),
  allowBots: flag("Answer other bots.", { default: false }),
  requireMention: flag("Answer in channels only when mentioned.", { fallback: "true" }),
  dm: dmSection("ids, @names or mail addresses", {
    ...groupDmKeys,
    replyToMode: choice("Older place of replyToMode.", ["off", "first", "all"]),
  }),
  channels: record("Channels by id or name; * means the others.", place),
  reactionNotifications: reactionNotifications(["off", "own", "all", "allowlist"]),
  reactionAllowlist: ids("People whose reactions count for allowlist."),
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
    inheritParent: flag("Start a thread's session from the channel's.", { default: false }),
  }),
  slashCommand: section("The slash command.", {
    enabled: flag("Answer it.", { fallback: "off" }),
    name: text("Its name.", { default: "openclaw" }),
    sessionPrefix: text("Start of its session keys.", { default: "slack:slash" }),
    ephemeral: flag("Answer so that only the asker sees it.", { default: true }),
  }),
  commands: nativeCommands,
  actions: actions(["reactions", "messages", "pins", "memberInfo", "emojiList"]),
});
