// What is closed to a call that strangers' words led to: files that steer an agent's later turns, and other conversations.
import { isSubagentKey, type SessionKey } from "../core/names.ts";
import type { Paths } from "../base/paths.ts";
import { agentIds, mainKeyOf, workspaceOf } from "../config/agents.ts";
import { isPrivate } from "../memory/audience.ts";
import type { Store } from "../store/store.ts";
import type { ToolCall } from "./tool.ts";
import { isOwnerTurn, isUntrustedTurn } from "../session/provenance.ts";

/**
 * A line in HEARTBEAT.md is a job without a row: what stays needs the owner there as well (CRN-014, MEM-006). The owner's
 * own chat, the owner's words in a room and calls outside of any turn are open; not so what others say into that chat.
 */
export async function protectedFolders(
  store: Store,
  paths: Paths,
  call: Pick<ToolCall, "session" | "turn" | "config" | "workspace">,
): Promise<readonly string[]> {
  if (!(await isUntrustedCall(store, call))) return [];
  const { config, workspace } = call;
  // A sandbox has files of its own with these names, and several sessions may share one.
  return [...agentIds(config).map((id) => workspaceOf(config, id, paths)), workspace];
}

export async function isUntrustedCall(
  store: Store,
  call: Pick<ToolCall, "session" | "turn" | "config">,
): Promise<boolean> {
  const { session, turn, config } = call;
  if (await isOwnerTurn({ store }, turn)) return false;
  return !isPrivate(await requesterOf(store, session), mainKeyOf(config)) || isUntrustedTurn(store, turn);
}

/**
 * Whoever speaks in a room, by a webhook or in a chat of their own hears what is read there: other conversations of the
 * same agent are not theirs, as little as MEMORY.md is. The owner's words there, and calls outside of any turn, are.
 */
export async function isGuest(store: Store, call: Pick<ToolCall, "session" | "turn" | "config">): Promise<boolean> {
  const { session, turn, config } = call;
  return !isPrivate(session, mainKeyOf(config)) && !(await isOwnerTurn({ store }, turn));
}

/** A sub-agent does what its requester wants; one whose requester is not known is nobody's. */
async function requesterOf(store: Store, session: SessionKey): Promise<SessionKey> {
  if (session === "global" || session === "unknown" || !isSubagentKey(session)) return session;
  return (await store.sessions.get(session))?.spawnedBy ?? session;
}
