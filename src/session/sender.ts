// The sender and the channel of a session, as far as its record shows them.
import { groupOfKey, sessionKindOf, type SessionKey } from "../core/names.ts";
import type { SessionRecord } from "../store/store.ts";
import { entryOf } from "./session.ts";

export interface Sender {
  /** `webchat` for the page and other clients of the gateway. */
  readonly channel: string;
  /** Empty in a group, where only the message names its sender. */
  readonly senders: readonly string[];
}

export function senderOf(key: SessionKey, record: SessionRecord | undefined): Sender {
  const entry = record === undefined ? {} : entryOf(record);
  const machine = machineOf(key);
  if (machine !== undefined) return { channel: machine, senders: [] };
  const group = groupOfKey(key);
  const channel = (group?.channel ?? entry.lastChannel ?? entry.channel ?? "webchat").toLowerCase();
  if (group !== undefined) return { channel, senders: [] };
  const { origin } = entry;
  const from = typeof origin === "object" && origin !== null && "from" in origin ? origin.from : undefined;
  return {
    channel,
    senders: [key, record?.sessionId, typeof from === "string" ? from : undefined].filter((name) => name !== undefined),
  };
}

/** Sessions of webhooks and jobs have no person at a page, so rights of the page do not apply. */
function machineOf(key: SessionKey): "hook" | "cron" | undefined {
  if (key === "global" || key === "unknown") return undefined;
  const kind = sessionKindOf(key);
  return kind === "hook" || kind === "cron" ? kind : undefined;
}
