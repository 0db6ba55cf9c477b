// Archives sessions of ended subagents: one timer for the next that is due, also after a restart.
import type { Clock } from "../../base/clock.ts";
import { childOf } from "../../session/subagents.ts";
import type { Turns } from "../../session/turns.ts";
import type { Store } from "../../store/store.ts";
import type { Later } from "./retry-later.ts";
import { NO_LIMIT_MS } from "./spawn.ts";

export interface Archive {
  /** Sets the timer for the next one that is due. */
  arm(): void;
  close(): void;
}

const BATCH = 100;
const BUSY_MS = 60_000;

export function createArchive(
  { store, turns, clock }: { store: Pick<Store, "children" | "sessions">; turns: () => Turns; clock: Clock },
  later: Later,
): Archive {
  let timer: NodeJS.Timeout | undefined;
  const arm = (leastMs = 0): void => later("the time to archive subagents could not be read", () => setTimer(leastMs));
  const setTimer = async (leastMs: number): Promise<void> => {
    const next = await store.children.nextDue();
    clearTimeout(timer);
    if (next === undefined || later.closing.aborted) return;
    const waitMs = Math.min(Math.max(next - clock.now(), leastMs), NO_LIMIT_MS);
    timer = setTimeout(() => later("a subagent could not be archived", archiveDue), waitMs).unref();
  };
  const archiveDue = async (): Promise<void> => {
    const now = clock.now();
    const due = await store.children.due(now, BATCH);
    for (const record of due) {
      const { runId, childKey } = record;
      const isBusy = turns().active(childKey).length > 0;
      // An archived session can still be read by its id; with cleanup=delete it is removed.
      const transcript = childOf(record).body.cleanup === "delete";
      if (!isBusy) await store.sessions.delete(childKey, { transcript });
      await store.children.update(runId, ({ archiveAt: _due, ...row }) =>
        isBusy ? { ...row, archiveAt: now + BUSY_MS } : row,
      );
    }
    // A damaged row stays due; it must not make the timer spin.
    // A timer that fires a moment early finds nothing due either, and then retries soon.
    const isStuck = due.length === 0 && ((await store.children.nextDue()) ?? Infinity) <= now;
    arm(isStuck ? BUSY_MS : 0);
  };
  return { arm: () => arm(), close: () => clearTimeout(timer) };
}
