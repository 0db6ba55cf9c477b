// Decides what a session may see: MEMORY.md and transcripts are only for the owner's private chat.
import { isSubagentKey, sessionKindOf, splitSessionKey, type SessionKey } from "../core/names.ts";
import type { MemorySource } from "./memory.ts";
import { curatedNames } from "./roots.ts";
import type { Audience } from "./search.ts";

/** Groups, webhooks, subagents and separate direct chats are not the owner's own chat. */
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

export function audienceOf(isOwnerChat: boolean, sources: readonly MemorySource[]): Audience {
  return isOwnerChat
    ? { withoutPaths: [], sources }
    : { withoutPaths: [...curatedNames], sources: sources.filter((source) => source !== "sessions") };
}
