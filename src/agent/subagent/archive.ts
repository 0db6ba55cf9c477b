// Sessions of sub-agents that ended are put away in time: one timer for whichever is due first, also after a restart.
import type { Clock } from "../../base/clock.ts";
import { childOf } from "../../session/subagents.ts";
import type { Turns } from "../../session/turns.ts";
import type { Store } from "../../store/store.ts";
import type { Later } from "./retry-later.ts";
import { NO_LIMIT_MS } from "./spawn.ts";

export interface Archive {
  /** Looks anew at what is due next. */
  arm(): void;
  close(): void;
}

const AT_ONCE = 100;
const BUSY_MS = 60_000;

export function createArchive(
  { store, turns, clock }: { store: Pick<Store, "children" | "sessions">; turns: () => Turns; clock: Clock },
  later: Later,
): Archive {
  let timer: NodeJS.Timeout | undefined;
  const arm = (leastMs = 0): void => later("the time to put sub-agents away is not known", () => setTimer(leastMs));
  const setTimer = async (leastMs: number): Promise<void> => {
    const next = await store.children.nextDue();
    clearTimeout(timer);
    if (next === undefined || later.closing.aborted) return;
    const waitMs = Math.min(Math.max(next - clock.now(), leastMs), NO_LIMIT_MS);
    timer = setTimeout(() => later("a sub-agent could not be put away", putAway), waitMs).unref();
  };
  const putAway = async (): Promise<void> => {
    const now = clock.now();
    const due = await store.children.due(now, AT_ONCE);
    for (const record of due) {
      const { runId, childKey } = record;
      const isBusy = turns().active(childKey).length > 0;
      // What was only put away can still be read by its id; what was to be deleted is gone.
      const transcript = childOf(record).body.cleanup === "delete";
      if (!isBusy) await store.sessions.delete(childKey, { transcript });
      await store.children.update(runId, ({ archiveAt: _due, ...row }) =>
        isBusy ? { ...row, archiveAt: now + BUSY_MS } : row,
      );
    }
    // Due, and yet none of them could be read (a damaged row): no reason to look without a pause.
    // A timer that fired a moment early finds nothing due either, and must not wait for that.
    const isStuck = due.length === 0 && ((await store.children.nextDue()) ?? Infinity) <= now;
    arm(isStuck ? BUSY_MS : 0);
  };
  return { arm: () => arm(), close: () => clearTimeout(timer) };
}
