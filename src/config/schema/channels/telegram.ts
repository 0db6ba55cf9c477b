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

const topicKeys = { ...placeKeys, groupPolicy, allowFrom: ids("Only these people.") };

const place = closed({
  ...topicKeys,
  topics: record("Topics by thread id.", closed(topicKeys)),
});

export const telegram = channel("Telegram.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 5 }),
  ...flatDmKeys("ids or @names"),
  botToken: secret("Bot token; else TELEGRAM_BOT_TOKEN."),
  tokenFile: text("File that holds the bot token.", { place: "hidden" }),
  apiRoot: text("Root of the service, for a server of your own or a stand-in."),
  groups: record("Groups by chat id; * means the others. Unset, every group counts as listed.", place),
  capabilities: oneOf("Abilities.", [
    Type.Array(Type.String()),
    closed({
      inlineButtons: choice("Where buttons are offered.", ["off", "dm", "group", "all", "allowlist"], {
        default: "allowlist",
      }),
    }),
  ]),
  customCommands: list(
    "Further entries of the command menu.",
    closed({
      command: Type.String({ pattern: "^/?[a-z0-9_]{1,32}$", description: "Its name." }),
      description: Type.String({ minLength: 1, description: "What it says." }),
    }),
  ),
  replyToMode: replyToMode("first"),
  linkPreview: flag("Show previews of links.", { default: true }),
  timeoutSeconds: number("Seconds a request may take.", { default: 500, minimum: 1 }),
  streamMode: choice("How a reply in the making is shown in a draft.", ["off", "partial", "block"], {
    default: "partial",
  }),
  draftChunk: section("Parts of the draft.", {
    minChars: whole("Not shorter than this.", { default: 200 }),
    maxChars: whole("Not longer than this.", { default: 800 }),
    breakPreference: choice("Where to cut first.", ["paragraph", "newline", "sentence"], { default: "paragraph" }),
  }),
  reactionNotifications: reactionNotifications(["off", "own", "all"]),
  reactionLevel,
  retry: retry(400),
  network: group("Connections.", { autoSelectFamily: flag("Try IPv6 and IPv4 side by side.") }),
  proxy: secret("Proxy; may carry a password."),
  webhookUrl: text("Public address for updates, instead of polling."),
  webhookSecret: secret("Secret updates must carry."),
  webhookPath: text("Path for updates.", { default: "/telegram-webhook" }),
  webhookHost: text("Address the local end listens on.", { fallback: "127.0.0.1" }),
  webhookPort: whole("Port the local end listens on.", { maximum: 65_535, fallback: "8787" }),
  commands: nativeCommands,
  actions: actions(["reactions", "sendMessage", "deleteMessage", "editMessage"], ["sticker"]),
});
