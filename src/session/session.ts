// Finds, creates, changes and resets session records.
import { OpenClawError } from "../core/error.ts";
import { parseSessionKey, splitSessionKey, type AgentId, type KeyContext, type SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import type { SessionRecord, SessionTable } from "../store/store.ts";
import type { SessionEntry } from "../protocol/methods/sessions.ts";

export type { SessionEntry };

export const entryOf = (record: SessionRecord): SessionEntry => record.entry as SessionEntry;

/** By key in any spelling, or by session id. Throws for text that can be neither. */
export async function findSession(
  table: SessionTable,
  keyOrId: string,
  context: KeyContext,
  caller?: AgentId,
): Promise<SessionRecord | undefined> {
  const key = parseSessionKey(keyOrId, context, caller);
  return (await table.get(key)) ?? (await table.byId(keyOrId.trim()));
}

export async function requireSession(
  table: SessionTable,
  keyOrId: string,
  context: KeyContext,
  caller?: AgentId,
): Promise<SessionRecord> {
  const found = await findSession(table, keyOrId, context, caller);
  if (found !== undefined) return found;
  throw new OpenClawError("session.unknown", `No session found: ${keyOrId}`, {
    hint: "list them with: openclaw sessions",
  });
}

export function newSession(key: SessionKey, now: number, entry: SessionEntry = {}): SessionRecord {
  return {
    key,
    agentId: splitSessionKey(key).agentId,
    sessionId: newId(),
    createdAt: now,
    updatedAt: now,
    entry: { ...entry },
  };
}

/** Changes fields of the entry; `null` clears one. Creates the session when it does not exist. */
export async function patchSession(
  table: SessionTable,
  key: SessionKey,
  now: number,
  patch: Readonly<Record<string, unknown>>,
): Promise<SessionRecord> {
  const updated = await table.update(key, (current) => {
    const base = current ?? newSession(key, now);
    const { label, spawnedBy, ...rest } = patch;
    const entry = Object.fromEntries(
      Object.entries({ ...base.entry, ...rest }).filter(([, value]) => value !== null && value !== undefined),
    );
    return {
      ...withText(withText(base, "label", label), "spawnedBy", spawnedBy),
      entry,
      updatedAt: now,
    };
  });
  if (updated === undefined) throw new OpenClawError("session.gone", `session ${key} disappeared while it was changed`);
  return updated;
}

/** Starts a new transcript under the same key; levels and overrides stay. */
export async function resetSession(table: SessionTable, key: SessionKey, now: number): Promise<SessionRecord> {
  const updated = await table.update(key, (current) => {
    const { entry, label, spawnedBy } = current ?? newSession(key, now);
    const { memoryFlushAt: _at, memoryFlushCompactionCount: _count, ...lasting } = entry;
    const kept = {
      ...lasting,
      inputTokens: 0,
      outputTokens: 0,
      totalTokens: 0,
      systemSent: false,
      abortedLastRun: false,
      compactionCount: 0,
    };
    return {
      ...newSession(key, now, kept),
      ...(label === undefined ? {} : { label }),
      ...(spawnedBy === undefined ? {} : { spawnedBy }),
    };
  });
  if (updated === undefined) throw new OpenClawError("session.gone", `session ${key} disappeared while it was reset`);
  return updated;
}

function withText(record: SessionRecord, field: "label" | "spawnedBy", value: unknown): SessionRecord {
  if (value === undefined) return record;
  const { [field]: _dropped, ...rest } = record;
  return typeof value === "string" ? ({ ...rest, [field]: value } as SessionRecord) : rest;
}
