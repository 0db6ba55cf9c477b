// What an untrusted call cannot reach: files that steer later turns of an agent, and other conversations.
import { isSubagentKey, type SessionKey } from "../core/names.ts";
import type { Paths } from "../base/paths.ts";
import { agentIds, mainKeyOf, workspaceOf } from "../config/agents.ts";
import { isPrivate } from "../memory/audience.ts";
import type { Store } from "../store/store.ts";
import type { ToolCall } from "./tool.ts";
import { trustOf } from "../session/provenance.ts";

/**
 * Folders whose steering files (HEARTBEAT.md and its like) a call cannot change. A line in HEARTBEAT.md has the effect of
 * a scheduled job, and an untrusted turn cannot add one of those either.
 */
export async function protectedFolders(
  store: Store,
  paths: Paths,
  call: Pick<ToolCall, "session" | "turn" | "config" | "workspace">,
): Promise<readonly string[]> {
  if (!(await isUntrustedCall(store, call))) return [];
  const { config, workspace } = call;
  // A sandbox has its own copies of these files, and several sessions can share one.
  return [...agentIds(config).map((id) => workspaceOf(config, id, paths)), workspace];
}

/** Checks that tools use; the app binds them to the store and loads this module on first use. */
export interface TrustChecks {
  readonly isConfinedToChat?: (call: ToolCall) => Promise<boolean>;
  readonly isUntrustedCall?: (call: ToolCall) => Promise<boolean>;
}

export async function isUntrustedCall(
  store: Store,
  call: Pick<ToolCall, "session" | "turn" | "config">,
): Promise<boolean> {
  const { session, turn, config } = call;
  const trust = await trustOf(store, turn);
  if (trust !== "agent") return trust === "untrusted";
  return !isPrivate(await requesterOf(store, session), mainKeyOf(config));
}

/**
 * Other people read what the agent says in a group, in a hook session or in a chat of their own, so a turn there sees
 * only its own conversation, unless the owner wrote it.
 */
export async function isConfinedToChat(
  store: Store,
  call: Pick<ToolCall, "session" | "turn" | "config">,
): Promise<boolean> {
  const { session, turn, config } = call;
  return !isPrivate(session, mainKeyOf(config)) && (await trustOf(store, turn)) !== "owner";
}

/** A subagent has the audience of the session that requested it. */
async function requesterOf(store: Store, session: SessionKey): Promise<SessionKey> {
  if (session === "global" || session === "unknown" || !isSubagentKey(session)) return session;
  return (await store.sessions.get(session))?.spawnedBy ?? session;
}
