// `channels.signal`.
import { choice, closed, flag, ids, record, text, whole } from "../field.ts";
import {
  actions,
  channel,
  chatKeys,
  flatDmKeys,
  placeKeys,
  reactionLevel,
  reactionNotifications,
} from "./chat-keys.ts";

export const signal = channel("Signal.", {
  ...chatKeys({ textChunkLimit: 4000, mediaMaxMb: 8, tables: "bullets" }),
  ...flatDmKeys("phone numbers or uuid:<id>"),
  account: text("Phone number of the agent."),
  cliPath: text("The signal-cli program.", { default: "signal-cli" }),
  httpUrl: text("URL of a running daemon."),
  httpHost: text("Address that the daemon listens on.", { default: "127.0.0.1" }),
  httpPort: whole("Port that the daemon listens on.", { default: 8080, minimum: 1, maximum: 65_535 }),
  autoStart: flag("Starts the daemon.", { fallback: "true unless httpUrl is set" }),
  startupTimeoutMs: whole("Milliseconds to wait for the daemon.", { default: 30_000, maximum: 120_000 }),
  receiveMode: choice("When the daemon fetches messages.", ["on-start", "manual"]),
  ignoreAttachments: flag("Ignores attachments."),
  ignoreStories: flag("Ignores stories."),
  sendReadReceipts: flag("Marks messages as read."),
  groups: record(
    "Groups by id; * means all other groups.",
    closed({ ...placeKeys, allowFrom: ids("Only these senders.") }),
  ),
  reactionNotifications: reactionNotifications(["off", "own", "all", "allowlist"]),
  reactionAllowlist: ids("Senders whose reactions count for allowlist."),
  reactionLevel,
  actions: actions(["reactions"]),
});
