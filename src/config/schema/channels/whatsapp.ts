// `channels.whatsapp`.
import { choice, closed, flag, group, ids, record, text, whole } from "../field.ts";
import { actions, channel, chatKeys, flatDmKeys, placeKeys } from "./chat-keys.ts";

export const whatsapp = channel("WhatsApp.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 50, tables: "bullets" }),
  ...flatDmKeys("phone numbers such as +43660123456"),
  authDir: text("Folder with the keys of the linked device.", {
    fallback: "<state>/credentials/whatsapp/<account>",
    place: "hidden",
  }),
  groups: record(
    "Groups by id; * means all other groups.",
    closed({ ...placeKeys, allowFrom: ids("Only these senders.") }),
  ),
  selfChatMode: flag("The agent uses your own number.", { default: false }),
  sendReadReceipts: flag("Marks messages as read.", { default: true }),
  messagePrefix: text("Prefix of received messages."),
  debounceMs: whole("Milliseconds to wait for the next message.", { fallback: "messages.inbound" }),
  ackReaction: group("Reaction that acknowledges a message.", {
    emoji: text("The reaction; empty for none."),
    direct: flag("In direct chats.", { default: true }),
    group: choice("In groups.", ["always", "mentions", "never"], { default: "mentions" }),
  }),
  actions: actions(["reactions", "sendMessage", "polls"]),
});
