// `channels.imessage`: Messages on a Mac through the imsg program.
import { choice, closed, flag, ids, record, text } from "../field.ts";
import { actions, channel, chatKeys, flatDmKeys, placeKeys } from "./chat-keys.ts";

export const imessage = channel("iMessage through the imsg program.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 16 }),
  ...flatDmKeys("phone numbers, mail addresses or chat_id:<n>"),
  cliPath: text("The imsg program or a wrapper of it.", { default: "imsg" }),
  dbPath: text("Path of the Messages database."),
  remoteHost: text("Machine that attachments are copied from."),
  service: choice("How messages are sent.", ["imessage", "sms", "auto"]),
  region: text("Default country of phone numbers."),
  includeAttachments: flag("Accepts attachments.", { default: false }),
  groups: record(
    "Groups by chat id; * means all other groups.",
    closed({ ...placeKeys, allowFrom: ids("Only these senders.") }),
  ),
  actions: actions(["reactions"]),
});
