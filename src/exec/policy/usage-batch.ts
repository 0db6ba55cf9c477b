// Collects the use of allowlist entries and writes it in batches, so that the approvals file is not rewritten for every command.
import type { Log } from "../../base/log.ts";
import type { EntryRef } from "./effective.ts";
import type { Plan } from "./plan.ts";
import { recordUse } from "./record-use.ts";

export interface UsageBatch {
  note(matched: readonly EntryRef[], plan: Plan): void;
  /** Writes what was collected. */
  close(): void;
}

const GATHER_MS = 1000;

export function createUsageBatch(stateDir: string, home: string, now: () => number, log: Log): UsageBatch {
  /** Only the last use of an entry is stored. */
  const gathered = new Map<string, { readonly ref: EntryRef; readonly plan: Plan; readonly at: number }>();
  let timer: NodeJS.Timeout | undefined;
  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const uses = [...gathered.values()];
    gathered.clear();
    for (const { ref, plan, at } of uses) {
      try {
        recordUse(stateDir, [ref], plan, at, home);
      } catch (error) {
        log.warn("could not record the use of an allowlist entry", { pattern: ref.pattern, error });
      }
    }
  };
  return {
    note(matched, plan) {
      for (const ref of matched) gathered.set(`${ref.agent}\0${ref.index}\0${ref.pattern}`, { ref, plan, at: now() });
      if (gathered.size > 0) timer ??= setTimeout(write, GATHER_MS).unref();
    },
    close: write,
  };
}
