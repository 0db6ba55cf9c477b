// Records in the approvals file when an entry was used, for which command and at which path.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";

import { writeFileAtomic } from "../../base/atomic-file.ts";
import { redactCommand } from "../../base/command-secrets.ts";
import { judgedOf } from "./argument-rules.ts";
import type { EntryRef } from "./effective.ts";
import { approvalsPath, readApprovals, withApprovalsLock } from "./file.ts";
import { matchesPath } from "./allowlist.ts";
import type { Plan } from "./plan.ts";

type Json = Record<string, unknown>;

/** Skips entries that were removed or changed, and keeps unknown keys. */
export function recordUse(
  state: string,
  matched: readonly EntryRef[],
  plan: Plan,
  now = Date.now(),
  home = homedir(),
): void {
  if (matched.length === 0) return;
  withApprovalsLock(state, () => {
    // Throws for a file that became unreadable instead of overwriting it; a missing file has no entries to update.
    if (!readApprovals(state).exists) return;
    const path = approvalsPath(state);
    const file = JSON.parse(readFileSync(path, "utf8")) as Json;
    const changed = matched.filter((ref) => note(file, ref, plan, now, home)).length;
    if (changed > 0) writeFileAtomic(path, `${JSON.stringify(file, null, 2)}\n`);
  });
}

function note(file: Json, ref: EntryRef, plan: Plan, now: number, home: string): boolean {
  const allowlist = allowlistOf(file, ref.agent);
  const at = allowlist?.findIndex((entry, index) => isEntry(entry, ref, index)) ?? -1;
  if (allowlist === undefined || at < 0) return false;
  const written = allowlist[at];
  const entry: Json = typeof written === "string" ? { pattern: written } : (written as Json);
  const used = plan.segments.map(judgedOf).find((judged) => matchesPath(ref.pattern, judged.path, home));
  allowlist[at] = {
    ...entry,
    lastUsedAt: now,
    lastUsedCommand: redactCommand(plan.command).slice(0, 1000).toWellFormed(),
    ...(used === undefined ? {} : { lastResolvedPath: used.path }),
  };
  return true;
}

function allowlistOf(file: Json, agent: string): unknown[] | undefined {
  const agents = file["agents"] as Record<string, Json> | undefined;
  const key = agent === "main" && agents !== undefined && !Object.hasOwn(agents, "main") ? "default" : agent;
  const rules = agents !== undefined && Object.hasOwn(agents, key) ? agents[key] : undefined;
  return Array.isArray(rules?.["allowlist"]) ? (rules["allowlist"] as unknown[]) : undefined;
}

function isEntry(entry: unknown, { entry: known, index: knownAt }: EntryRef, index: number): boolean {
  if (typeof entry === "string") return entry === known.pattern && index === knownAt;
  if (typeof entry !== "object" || entry === null || !("pattern" in entry) || entry.pattern !== known.pattern)
    return false;
  if (known.id !== undefined) return "id" in entry && entry.id === known.id;
  return index === knownAt;
}
