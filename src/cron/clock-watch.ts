// The wall clock, mistrusted: whether it knows the date, and whether somebody set it back so far that jobs would sleep on.
import type { CronDeps } from "./deps.ts";
import { bodyOf } from "./job.ts";
import { nextFire } from "./schedule.ts";

export interface ClockWatch {
  /** False while the machine does not know what day it is. */
  isSane(): boolean;
  /** Compares it with the time that has really passed. */
  notice(): Promise<void>;
}

const SANE_MS = Date.UTC(2025, 0, 1);
const WORTH_SAYING_MS = 5_000;
export const DAY_MS = 86_400_000;

export function createClockWatch(deps: CronDeps): ClockWatch {
  const { clock, log } = deps;
  let seen = { wall: clock.now(), ticks: clock.ticks() };
  let isTold = false;
  return {
    isSane() {
      const isFine = clock.now() >= SANE_MS;
      if (!isFine && !isTold) log.warn("cron: this machine does not know what day it is; jobs wait for its clock");
      isTold = !isFine;
      return isFine;
    },
    async notice() {
      const now = { wall: clock.now(), ticks: clock.ticks() };
      const drift = now.wall - seen.wall - (now.ticks - seen.ticks);
      seen = now;
      if (Math.abs(drift) > WORTH_SAYING_MS) log.info(`cron: the clock moved by ${Math.round(drift / 1000)} s`);
      if (drift < -DAY_MS) await reanchor(deps);
    },
  };
}

/** Jobs that wait for a time a wrong clock gave them are due by the clock as it is. */
export async function reanchor({ store: { jobs }, clock }: Pick<CronDeps, "store" | "clock">): Promise<void> {
  const now = clock.now();
  for (const { id } of await jobs.list()) {
    await jobs.update(id, (job) => {
      const candidate = nextFire(bodyOf(job).schedule, now);
      if (job.nextAt === undefined || candidate === undefined || candidate + DAY_MS >= job.nextAt) return undefined;
      return { ...job, nextAt: candidate };
    });
  }
}
