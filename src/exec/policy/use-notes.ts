// Notes of use for the approvals file, gathered: a file that people edit is not rewritten for every command.
import type { Log } from "../../base/log.ts";
import type { EntryRef } from "./effective.ts";
import type { Plan } from "./plan.ts";
import { recordUse } from "./use.ts";

export interface UseNotes {
  note(matched: readonly EntryRef[], plan: Plan): void;
  /** Writes what is gathered. */
  close(): void;
}

const GATHER_MS = 1000;

export function createUseNotes(stateDir: string, home: string, now: () => number, log: Log): UseNotes {
  /** The last use of an entry is the one that is kept. */
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
        log.warn("the use of an allowlist entry could not be noted", { pattern: ref.pattern, error });
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
