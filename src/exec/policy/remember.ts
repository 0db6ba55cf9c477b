// Stores what "allow always" covers, without losing concurrent edits.
import { isDeepStrictEqual } from "node:util";

import { newId } from "../../base/ids.ts";
import type { AllowEntry, EntryRef } from "./effective.ts";
import { readApprovals, withApprovalsLock, writeLocked } from "./file.ts";

/** Skips entries that already exist. Returns the position of each entry. */
export function addEntries(stateDir: string, agent: string, entries: readonly AllowEntry[]): readonly EntryRef[] {
  return entries.length === 0 ? [] : withApprovalsLock(stateDir, () => addLocked(stateDir, agent, entries));
}

function addLocked(stateDir: string, agent: string, entries: readonly AllowEntry[]): readonly EntryRef[] {
  const { file, hash, exists } = readApprovals(stateDir);
  const rules = file.agents?.[agent] ?? {};
  const known = (rules.allowlist ?? []).map(meaningOf);
  const fresh = entries.filter((entry) => !known.some((other) => isDeepStrictEqual(other, meaningOf(entry))));
  const allowlist = [...(rules.allowlist ?? []), ...fresh.map((entry) => ({ ...entry, id: newId() }))];
  const agents = { ...file.agents, [agent]: { ...rules, allowlist } };
  if (fresh.length > 0) writeLocked(stateDir, { ...file, agents }, exists ? hash : undefined);
  return allowlist.flatMap((entry, index) =>
    entries.some((added) => isDeepStrictEqual(meaningOf(added), meaningOf(entry)))
      ? [{ agent, index, pattern: entry.pattern, entry }]
      : [],
  );
}

function meaningOf({ pattern, args, cwd, argPattern, sha256 }: AllowEntry): unknown {
  return { pattern, args, cwd, argPattern, sha256 };
}
