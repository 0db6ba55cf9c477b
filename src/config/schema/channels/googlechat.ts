// `channels.googlechat`.
import { Type } from "../../../core/schema.ts";
import { choice, closed, flag, ids, oneOf, record, text } from "../field.ts";
import { actions, channel, chatKeys, dmSection, placeKeys, replyToMode } from "./chat-keys.ts";

export const googlechat = channel("Google Chat.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 20 }),
  serviceAccount: oneOf(
    "The service account's key, as JSON; else GOOGLE_CHAT_SERVICE_ACCOUNT.",
    [Type.String(), Type.Record(Type.String(), Type.Unknown())],
    { sensitive: true },
  ),
  serviceAccountFile: text("File with that key; else GOOGLE_CHAT_SERVICE_ACCOUNT_FILE.", { place: "hidden" }),
  audienceType: choice("What requests are signed for.", ["app-url", "project-number"]),
  audience: text("The address or project number they are signed for."),
  webhookPath: text("Path for requests.", { default: "/googlechat" }),
  webhookUrl: text("Public address of that path."),
  botUser: text("Resource name of the bot, as users/<id>."),
  apiRoot: text("Root of the service, for a stand-in."),
  jwksUri: text("Address of the signing keys, for a stand-in."),
  allowBots: flag("Answer other bots.", { default: false }),
  requireMention: flag("Answer in spaces only when mentioned.", { fallback: "true" }),
  dm: dmSection("users/<id> or mail addresses", {}),
  groups: record(
    "Spaces by name; * means the others.",
    closed({ ...placeKeys, allow: flag("Listen here."), users: ids("Only these people.") }),
  ),
  groupAllowFrom: ids("People who may talk to the agent in spaces."),
  replyToMode: replyToMode("off"),
  typingIndicator: choice("How typing shows.", ["none", "message", "reaction"], { default: "message" }),
  actions: actions(["reactions"]),
});
