// `channels.bluebubbles`: iMessage through a BlueBubbles server.
import { closed, flag, ids, record, secret, text } from "../field.ts";
import { actions, channel, chatKeys, flatDmKeys, placeKeys } from "./chat-keys.ts";

export const bluebubbles = channel("iMessage through a BlueBubbles server.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 8 }),
  ...flatDmKeys("phone numbers or mail addresses"),
  serverUrl: text("URL of the server."),
  password: secret("Password of the server; every webhook must send it."),
  webhookPath: text("URL path of webhooks.", { default: "/bluebubbles-webhook" }),
  sendReadReceipts: flag("Marks messages as read.", { default: true }),
  groups: record(
    "Groups by guid; * means all other groups.",
    closed({ ...placeKeys, allowFrom: ids("Only these senders.") }),
  ),
  actions: actions([
    "reactions",
    "edit",
    "unsend",
    "reply",
    "sendWithEffect",
    "renameGroup",
    "setGroupIcon",
    "addParticipant",
    "removeParticipant",
    "leaveGroup",
    "sendAttachment",
  ]),
});
