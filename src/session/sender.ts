// Who speaks in a session and where, as far as the session itself can tell.
import { groupOfKey, sessionKindOf, type SessionKey } from "../core/names.ts";
import type { SessionRecord } from "../store/store.ts";
import { entryOf } from "./session.ts";

export interface Sender {
  /** A page or program of the gateway is `webchat`. */
  readonly channel: string;
  /** Empty in a group: who wrote there is known only with the message. */
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

/** Behind a webhook and a job there is nobody at a page: what the page's people may do is not theirs. */
function machineOf(key: SessionKey): "hook" | "cron" | undefined {
  if (key === "global" || key === "unknown") return undefined;
  const kind = sessionKindOf(key);
  return kind === "hook" || kind === "cron" ? kind : undefined;
}
