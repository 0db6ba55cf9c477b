// Watches the wall clock: whether it is set at all, and whether it jumped; schedules follow it both ways.
import type { CronDeps } from "./deps.ts";
import { bodyOf } from "./job.ts";
import { setBack, slotKey, type Gap } from "./misfire.ts";
import { nextFire } from "./schedule.ts";

export interface ClockWatch {
  /** False while the clock of the machine is not set. */
  isSane(): boolean;
  /** Compares the wall clock with the monotonic clock. */
  notice(): Promise<void>;
  /** Periods that the clock jumped over, newest last. */
  jumps(): readonly Gap[];
}

const SANE_MS = Date.UTC(2025, 0, 1);
/** Clocks are corrected by fractions of a second all the time. */
export const STEP_MS = 1_000;
const LOGGED_MS = 5_000;
const MAX_JUMPS = 20;

export function createClockWatch(deps: CronDeps): ClockWatch {
  const { clock, log } = deps;
  let seen = { wall: clock.now(), ticks: clock.ticks() };
  let hasWarned = false;
  let jumps: readonly Gap[] = [];
  let noticing: Promise<void> | undefined;
  return {
    // A second caller waits for the same comparison, so that a jump counts once.
    notice: () =>
      (noticing ??= compare().finally(() => {
        noticing = undefined;
      })),
    jumps: () => jumps,
    isSane() {
      const isSane = clock.now() >= SANE_MS;
      if (!isSane && !hasWarned) log.warn("cron: the clock of this machine is not set; jobs wait for it");
      hasWarned = !isSane;
      return isSane;
    },
  };

  async function compare(): Promise<void> {
    const now = { wall: clock.now(), ticks: clock.ticks() };
    const drift = now.wall - seen.wall - (now.ticks - seen.ticks);
    const seconds = Math.round(Math.abs(drift) / 1000);
    if (drift > LOGGED_MS) {
      log.info(`cron: the clock jumped ahead by ${seconds} s`);
      // From the last check on, because the moment of the jump is unknown.
      const jump = { fromMs: seen.wall, untilMs: now.wall, why: `the clock jumped ahead by ${seconds} s` };
      jumps = [...jumps, jump].slice(-MAX_JUMPS);
    }
    if (drift < -STEP_MS) {
      log.warn(`cron: the clock was set back by ${seconds} s; jobs follow it`);
      await followBack(deps, -drift);
      jumps = jumps.filter(({ untilMs }) => untilMs <= now.wall);
    }
    // Last, so that a failed write is tried again at the next check.
    seen = now;
  }
}

/**
 * Moves the next times of jobs after the clock was set back. A job whose interval is shorter than the jump runs again
 * at the repeated times; a rarer one repeats no slot.
 */
export async function followBack({ store, clock }: Pick<CronDeps, "store" | "clock">, backMs: number): Promise<void> {
  const now = clock.now();
  for (const job of await store.jobs.list()) {
    const { schedule } = bodyOf(job);
    const next = nextFire(schedule, now);
    if (job.nextAt === undefined || next === undefined || next >= job.nextAt) continue;
    const periodMs = (nextFire(schedule, next) ?? Infinity) - next;
    const keys = [...new Set([String(next), slotKey(job, next)])];
    const rows = await Promise.all(keys.map((key) => store.slots.get(job.id, key)));
    if (periodMs > backMs && rows.some((row) => row?.startedAt !== undefined)) continue;
    await store.jobs.update(job.id, (current) =>
      current.nextAt === job.nextAt ? setBack(current, now, backMs) : undefined,
    );
  }
}
