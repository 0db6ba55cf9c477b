// `channels.googlechat`.
import { Type } from "../../../core/schema.ts";
import { choice, closed, flag, ids, oneOf, record, text } from "../field.ts";
import { actions, channel, chatKeys, dmSection, placeKeys, replyToMode } from "./chat-keys.ts";

export const googlechat = channel("Google Chat.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 20 }),
  serviceAccount: oneOf(
    "Key of the service account as JSON. By default GOOGLE_CHAT_SERVICE_ACCOUNT from the environment.",
    [Type.String(), Type.Record(Type.String(), Type.Unknown())],
    { sensitive: true },
  ),
  serviceAccountFile: text("File with that key. By default GOOGLE_CHAT_SERVICE_ACCOUNT_FILE from the environment.", {
    place: "hidden",
  }),
  audienceType: choice("Kind of audience that requests are signed for.", ["app-url", "project-number"]),
  audience: text("The URL or project number that requests are signed for."),
  webhookPath: text("URL path of requests.", { default: "/googlechat" }),
  webhookUrl: text("Public URL of that path."),
  botUser: text("Resource name of the bot, as users/<id>."),
  apiRoot: text("Base URL of the service, for tests."),
  jwksUri: text("URL of the signing keys, for tests."),
  allowBots: flag("Replies to other bots.", { default: false }),
  requireMention: flag("Replies in spaces only when mentioned.", { fallback: "true" }),
  dm: dmSection("users/<id> or mail addresses", {}),
  groups: record(
    "Spaces by name; * means all other spaces.",
    closed({ ...placeKeys, allow: flag("Listens here."), users: ids("Only these senders.") }),
  ),
  groupAllowFrom: ids("Senders who may use the agent in spaces."),
  replyToMode: replyToMode("off"),
  typingIndicator: choice("How typing is shown.", ["none", "message", "reaction"], { default: "message" }),
  actions: actions(["reactions"]),
});
