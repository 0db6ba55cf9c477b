// Who asks decides what is shown: the curated file and old talk are for the private chat, not for rooms with others.
import { isSubagentKey, sessionKindOf, splitSessionKey, type SessionKey } from "../core/names.ts";
import type { MemorySource } from "./memory.ts";
import { curatedNames } from "./roots.ts";
import type { Audience } from "./search.ts";

/** Rooms, webhooks, sub-agents and the separate chats of single correspondents are not the owner's own chat. */
export function isPrivate(session: SessionKey | undefined, mainKey: string): boolean {
  if (session === undefined) return true;
  if (session === "global" || session === "unknown") return session === "global";
  const kind = sessionKindOf(session, mainKey);
  if (kind === "group" || kind === "hook" || isSubagentKey(session)) return false;
  return !/(^|:)(?:direct|dm):/.test(splitSessionKey(session).rest);
}

export function isGroup(session: SessionKey | undefined, mainKey: string): boolean {
  return session !== undefined && session !== "global" && sessionKindOf(session, mainKey) === "group";
}

export function audienceOf(isOwners: boolean, sources: readonly MemorySource[]): Audience {
  return isOwners
    ? { withoutPaths: [], sources }
    : { withoutPaths: [...curatedNames], sources: sources.filter((source) => source !== "sessions") };
}
