// `channels.whatsapp`.
import { choice, closed, flag, group, ids, record, text, whole } from "../field.ts";
import { actions, channel, chatKeys, flatDmKeys, placeKeys } from "./chat-keys.ts";

export const whatsapp = channel("WhatsApp.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 50, tables: "bullets" }),
  ...flatDmKeys("phone numbers such as +43660123456"),
  authDir: text("Folder of the linked device's keys.", {
    fallback: "<state>/credentials/whatsapp/<account>",
    place: "hidden",
  }),
  groups: record("Groups by id; * means the others.", closed({ ...placeKeys, allowFrom: ids("Only these people.") })),
  selfChatMode: flag("You write to yourself on the same number.", { default: false }),
  sendReadReceipts: flag("Mark messages as read.", { default: true }),
  messagePrefix: text("Text in front of what comes in."),
  debounceMs: whole("Milliseconds to wait for the next message.", { fallback: "messages.inbound" }),
  ackReaction: group("Reaction that says a message was seen.", {
    emoji: text("The reaction; empty for none."),
    direct: flag("In direct chats.", { default: true }),
    group: choice("In groups.", ["always", "mentions", "never"], { default: "mentions" }),
  }),
  actions: actions(["reactions", "sendMessage", "polls"]),
});
