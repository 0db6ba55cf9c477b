// `channels.telegram`.
import { Type } from "../../../core/schema.ts";
import {
  choice,
  closed,
  flag,
  group,
  ids,
  list,
  number,
  oneOf,
  record,
  secret,
  section,
  text,
  whole,
} from "../field.ts";
import {
  actions,
  channel,
  chatKeys,
  flatDmKeys,
  groupPolicy,
  nativeCommands,
  placeKeys,
  reactionLevel,
  reactionNotifications,
  replyToMode,
  retry,
} from "./chat-keys.ts";

const topicKeys = { ...placeKeys, groupPolicy, allowFrom: ids("Only these senders.") };

const place = closed({
  ...topicKeys,
  topics: record("Topics by thread id.", closed(topicKeys)),
});

export const telegram = channel("Telegram.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 5 }),
  ...flatDmKeys("ids or @names"),
  botToken: secret("Bot token. By default TELEGRAM_BOT_TOKEN from the environment."),
  tokenFile: text("File with the bot token.", { place: "hidden" }),
  apiRoot: text("Base URL of the service, for a custom server or tests."),
  groups: record("Groups by chat id; * means all other groups. By default every group counts as listed.", place),
  capabilities: oneOf("Abilities.", [
    Type.Array(Type.String()),
    closed({
      inlineButtons: choice("Where buttons are offered.", ["off", "dm", "group", "all", "allowlist"], {
        default: "allowlist",
      }),
    }),
  ]),
  customCommands: list(
    "Additional entries of the command menu.",
    closed({
      command: Type.String({ pattern: "^/?[a-z0-9_]{1,32}$", description: "Name of the command." }),
      description: Type.String({ minLength: 1, description: "Description of the command." }),
    }),
  ),
  replyToMode: replyToMode("first"),
  linkPreview: flag("Shows link previews.", { default: true }),
  timeoutSeconds: number("Maximum duration of a request in seconds.", { default: 500, minimum: 1 }),
  streamMode: choice("How an unfinished reply is shown as a draft.", ["off", "partial", "block"], {
    default: "partial",
  }),
  draftChunk: section("Parts of the draft.", {
    minChars: whole("Minimum number of characters.", { default: 200 }),
    maxChars: whole("Maximum number of characters.", { default: 800 }),
    breakPreference: choice("Preferred place to split.", ["paragraph", "newline", "sentence"], {
      default: "paragraph",
    }),
  }),
  reactionNotifications: reactionNotifications(["off", "own", "all"]),
  reactionLevel,
  retry: retry(400),
  network: group("Connections.", { autoSelectFamily: flag("Tries IPv6 and IPv4 in parallel.") }),
  proxy: secret("Proxy URL; may contain a password."),
  webhookUrl: text("Public URL for updates, instead of polling."),
  webhookSecret: secret("Secret that updates must contain."),
  webhookPath: text("URL path of updates.", { default: "/telegram-webhook" }),
  webhookHost: text("Address that the webhook server listens on.", { fallback: "127.0.0.1" }),
  webhookPort: whole("Port that the webhook server listens on.", { maximum: 65_535, fallback: "8787" }),
  commands: nativeCommands,
  actions: actions(["reactions", "sendMessage", "deleteMessage", "editMessage"], ["sticker"]),
});
