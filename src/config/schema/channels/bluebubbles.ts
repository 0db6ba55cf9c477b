// `channels.bluebubbles`: iMessage through a BlueBubbles server.
import { closed, flag, ids, record, secret, text } from "../field.ts";
import { actions, channel, chatKeys, flatDmKeys, placeKeys } from "./chat-keys.ts";

export const bluebubbles = channel("iMessage through a BlueBubbles server.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 8 }),
  ...flatDmKeys("phone numbers or mail addresses"),
  serverUrl: text("Address of the server."),
  password: secret("Its password; every webhook must carry it."),
  webhookPath: text("Path for webhooks.", { default: "/bluebubbles-webhook" }),
  sendReadReceipts: flag("Mark messages as read.", { default: true }),
  groups: record("Groups by guid; * means the others.", closed({ ...placeKeys, allowFrom: ids("Only these people.") })),
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
