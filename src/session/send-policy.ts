// Whether messages may be sent to a session: its own override, then the rules of the config, then their default.
import { OpenClawError } from "../core/error.ts";
import { groupOfKey, splitSessionKey, type SessionKey } from "../core/names.ts";
import type { Config } from "../config/schema/index.ts";
import type { SessionRecord, SessionTable } from "../store/store.ts";
import { entryOf } from "./session.ts";

/** Throws `session.send-denied` with the deciding rule. */
export async function requireSend(sessions: SessionTable, key: SessionKey, config: Config): Promise<void> {
  const record = await sessions.get(key);
  if (sendDecision(key, record, config) === "allow") return;
  const own = record !== undefined && entryOf(record).sendPolicy === "deny";
  throw new OpenClawError("session.send-denied", `sending to ${key} is denied`, {
    hint: own
      ? `openclaw gateway call sessions.patch --params '{key:"${key}",sendPolicy:null}'`
      : "session.sendPolicy in the config",
  });
}

/** A matching deny blocks, a matching allow permits, and without a match the default applies. */
export function sendDecision(key: SessionKey, record: SessionRecord | undefined, config: Config): "allow" | "deny" {
  const entry = record === undefined ? {} : entryOf(record);
  if (entry.sendPolicy === "allow" || entry.sendPolicy === "deny") return entry.sendPolicy;
  const policy = config.session?.sendPolicy;
  const hits = (policy?.rules ?? []).filter(({ match }) => matchesChat(match, key, record));
  if (hits.some(({ action }) => action === "deny")) return "deny";
  return hits.length > 0 ? "allow" : (policy?.default ?? "allow");
}

interface ChatMatch {
  readonly channel?: string;
  readonly chatType?: string;
  readonly keyPrefix?: string;
}

/** Whether a rule is about the chat of this session; a rule without conditions matches every chat. */
export function matchesChat(match: ChatMatch | undefined, key: SessionKey, record: SessionRecord | undefined): boolean {
  const entry = record === undefined ? {} : entryOf(record);
  const channel = groupOfKey(key)?.channel ?? entry.channel ?? entry.lastChannel;
  return (
    (match?.keyPrefix === undefined || key.startsWith(match.keyPrefix.toLowerCase())) &&
    (match?.channel === undefined || match.channel.toLowerCase() === channel?.toLowerCase()) &&
    (match?.chatType === undefined || (match.chatType === "channel" ? "room" : match.chatType) === chatTypeOf(key))
  );
}

function chatTypeOf(key: SessionKey): "direct" | "group" | "room" {
  const { rest } = splitSessionKey(key);
  if (/(^|:)group:/.test(rest)) return "group";
  return /(^|:)(channel|room):/.test(rest) ? "room" : "direct";
}
