// Writes down what "allow always" covers; an edit by somebody else in the meantime is kept.
import { isDeepStrictEqual } from "node:util";

import { newId } from "../../base/ids.ts";
import type { AllowEntry } from "./effective.ts";
import { readApprovals, whileAlone, writeAlone } from "./file.ts";

/** Entries that are there already are not added again. */
export function addEntries(stateDir: string, agent: string, entries: readonly AllowEntry[]): void {
  if (entries.length > 0) whileAlone(stateDir, () => addAlone(stateDir, agent, entries));
}

function addAlone(stateDir: string, agent: string, entries: readonly AllowEntry[]): void {
  const { file, hash, exists } = readApprovals(stateDir);
  const rules = file.agents?.[agent] ?? {};
  const known = (rules.allowlist ?? []).map(meaningOf);
  const fresh = entries.filter((entry) => !known.some((other) => isDeepStrictEqual(other, meaningOf(entry))));
  if (fresh.length === 0) return;
  const allowlist = [...(rules.allowlist ?? []), ...fresh.map((entry) => ({ ...entry, id: newId() }))];
  const agents = { ...file.agents, [agent]: { ...rules, allowlist } };
  writeAlone(stateDir, { ...file, agents }, exists ? hash : undefined);
}

function meaningOf({ pattern, args, cwd, argPattern }: AllowEntry): unknown {
  return { pattern, args, cwd, argPattern };
}
