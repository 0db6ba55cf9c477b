// The one timer: looks what is due, begins so many at a time, in order, and looks again.
import { setTimeout as sleep } from "node:timers/promises";

import type { JobRecord, SlotRecord } from "../store/store.ts";
import { createClockWatch } from "./clock-watch.ts";
import type { CronDeps } from "./deps.ts";
import { deliver } from "./deliver.ts";
import { createFinish } from "./finish.ts";
import { bodyOf } from "./job.ts";
import type { Gap } from "./misfire.ts";
import { perform, type Run, type RunEnd } from "./perform.ts";
import { createClaims, isByHand, type Claimed } from "./slots.ts";

export interface Scheduler {
  /** Looks at once; from then on by itself. */
  start(): void;
  /** Something changed: look again. */
  kick(): void;
  /** Takes up a row that a dead process left and that had not begun, or can be followed. */
  resume(job: JobRecord, slot: SlotRecord): void;
  /** Begins a run outside the schedule, beside its limit. Undefined when the job runs already or is gone. */
  runNow(id: string, mode: "force" | "due"): Promise<Started | undefined>;
  /** Since when, if it runs. */
  runningSince(id: string): number | undefined;
  /** Nothing new begins; commands and tools under way are stopped. */
  stop(): void;
  /** Waits a little for what runs to write its end; what does not is taken up by the next process. */
  close(): Promise<void>;
}

export interface Started {
  readonly runId: string;
  readonly ended: Promise<RunEnd | undefined>;
}

interface Active {
  readonly startedAt: number;
  readonly ended: Promise<RunEnd | undefined>;
}

/** The wall clock is looked at no less often: it may have been set, or the machine may have slept. */
const RECHECK_MS = 30_000;
const RETRY_MS = 5_000;
const CLOSE_MS = 3_000;

export function createScheduler(deps: CronDeps): Scheduler {
  const { clock, log } = deps;
  const { jobs } = deps.store;
  const begunAt = clock.now();
  const running = new Map<string, Active>();
  const [stopping, gone] = [new AbortController(), new AbortController()];
  const claims = createClaims(deps);
  const finish = createFinish(deps, claims, gone.signal);
  const watch = createClockWatch(deps);
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let stuckAt: number | undefined;
  let places = 0;
  let fullSince: number | undefined;
  let again = false;
  let isOn = false;

  const limit = (): number => deps.config().cron?.maxConcurrentRuns ?? 1;
  const mayRun = (): boolean =>
    isOn && !stopping.signal.aborted && !deps.isSkipped && deps.config().cron?.enabled !== false;

  return {
    kick,
    start() {
      isOn = true;
      kick();
    },
    resume(job, slot) {
      const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
      const startedAt = slot.startedAt ?? clock.now();
      running.set(job.id, { startedAt, ended: promise });
      if (!isByHand(slot)) places += 1;
      follow({ ...runOf({ job, slot }), isCatchUp: true }, startedAt, resolve);
    },
    async runNow(id, mode) {
      if (running.has(id)) return undefined;
      const now = clock.now();
      const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
      running.set(id, { startedAt: now, ended: promise });
      const claimed = await claims.byHand(id, mode, now).catch((error: unknown) => {
        running.delete(id);
        throw error;
      });
      if (claimed === undefined) {
        running.delete(id);
        return undefined;
      }
      // A slot of its schedule that somebody begins counts like any other.
      if (!isByHand(claimed.slot)) places += 1;
      follow(runOf(claimed), now, resolve);
      return { runId: claimed.slot.runId ?? "", ended: promise };
    },
    runningSince: (id) => running.get(id)?.startedAt,
    stop() {
      stopping.abort();
      clearTimeout(timer);
    },
    async close() {
      stopping.abort();
      clearTimeout(timer);
      await looking;
      const all = Promise.all([...running.values()].map(({ ended }) => ended));
      await Promise.race([all, sleep(CLOSE_MS, undefined, { ref: false })]);
      gone.abort();
    },
  };

  function kick(): void {
    again = true;
    looking ??= lookAll();
  }

  async function lookAll(): Promise<void> {
    // `looking` must hold this before anything here can take it away again.
    await Promise.resolve();
    clearTimeout(timer);
    try {
      do {
        while (again && mayRun()) {
          again = false;
          if (await look()) again = true;
        }
        await arm();
        // Asked again while the timer was being set.
      } while (again && mayRun());
    } catch (error) {
      log.error("cron: timer tick failed", { error });
      armIn(RETRY_MS);
    }
    // In the same moment as the last question whether there is more: who asks from now on begins anew.
    looking = undefined;
  }

  async function arm(): Promise<void> {
    if (!mayRun()) return;
    const { nextAt } = await jobs.outlook();
    if (nextAt === undefined || places >= limit() || !watch.isSane()) return armIn(RECHECK_MS);
    const delayMs = nextAt - clock.now();
    // Due, and yet the look before did not take it up (a damaged row): no reason to look without a pause.
    const isStuck = delayMs <= 0 && nextAt === stuckAt;
    stuckAt = delayMs <= 0 ? nextAt : undefined;
    armIn(isStuck ? RETRY_MS : Math.min(RECHECK_MS, Math.max(0, delayMs)));
  }

  function armIn(delayMs: number): void {
    clearTimeout(timer);
    if (!stopping.signal.aborted) timer = setTimeout(kick, delayMs).unref();
  }

  /** True when something moved, so that there may be more to do. */
  async function look(): Promise<boolean> {
    if (!watch.isSane()) return false;
    await watch.notice();
    const now = clock.now();
    const free = Math.max(0, limit() - places);
    const due = await jobs.due(now, free + running.size + 1);
    const busy = due.filter(({ id }) => running.has(id));
    const waiting = due.filter(({ id }) => !running.has(id));
    const gaps = [...watch.jumps(), ...crowdNow()];
    const moved = await Promise.all([
      ...busy.map(({ id }) => claims.skip(id, "it was still running")),
      ...waiting.slice(0, free).map((job) => begin(job, now, gaps)),
    ]);
    const isServed = free > 0 && waiting.length <= free;
    fullSince = places < limit() ? undefined : isServed ? now : (fullSince ?? now);
    return moved.some(Boolean);
  }

  /** Why a time was missed that came while others ran: nobody was missing, there was no place. */
  function crowdNow(): readonly Gap[] {
    if (fullSince === undefined) return [];
    return [{ fromMs: fullSince, untilMs: Infinity, why: `other jobs ran (cron.maxConcurrentRuns is ${limit()})` }];
  }

  async function begin(job: JobRecord, now: number, gaps: readonly Gap[]): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
    running.set(job.id, { startedAt: now, ended: promise });
    places += 1;
    const letGo = (): void => {
      running.delete(job.id);
      places -= 1;
    };
    const { claimed, moved } = await claims.due(job, now, gaps).catch((error: unknown) => {
      letGo();
      throw error;
    });
    if (claimed === undefined) {
      letGo();
      return moved;
    }
    const { slot } = claimed;
    if (slot.why === "late")
      log.info(`cron: ${bodyOf(job).name} runs ${Math.round((now - slot.at) / 1000)} s late`, { jobId: job.id });
    follow(runOf(claimed), now, resolve);
    return true;
  }

  function runOf({ job, slot }: Claimed): Run {
    return { job, slot, isCatchUp: slot.at < begunAt, stopping: stopping.signal, gone: gone.signal };
  }

  /** The row is there; from here on it gets exactly one end. */
  function follow(run: Run, startedAt: number, resolve: (end: RunEnd | undefined) => void): void {
    const { job, slot } = run;
    const byHand = isByHand(slot);
    deps.emit({ jobId: job.id, action: "started", runAtMs: startedAt });
    const work = async (): Promise<RunEnd | undefined> => {
      const done = await perform(deps, run);
      if (done === undefined) return undefined;
      const undelivered = await deliver(deps, run, done);
      const end: RunEnd = undelivered === undefined ? done : { ...done, state: "failed", error: undelivered };
      await finish(run, { end, startedAt, byHand });
      return end;
    };
    const letGo = (end: RunEnd | undefined): void => {
      running.delete(job.id);
      if (!byHand) places -= 1;
      resolve(end);
      kick();
    };
    work().then(letGo, (error: unknown) => {
      log.error("the end of a job could not be written; its row stays open", { error, jobId: job.id, slot: slot.slot });
      letGo(undefined);
    });
  }
}
