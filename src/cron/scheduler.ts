// The one timer: looks what is due, claims each slot durably, runs so many at a time, and writes down how each ended.
import { setTimeout as sleep } from "node:timers/promises";

import { newId } from "../base/ids.ts";
import type { JobRecord, SlotRecord } from "../store/store.ts";
import type { CronDeps } from "./deps.ts";
import { deliver, short } from "./deliver.ts";
import { bodyOf } from "./job.ts";
import { planSkip, planSlot, type Plan } from "./misfire.ts";
import { agentOf, perform, type Run, type RunEnd } from "./perform.ts";
import { nextFire } from "./schedule.ts";
import { keepSession } from "./sessions.ts";
import { settled, statusOf, switchedOff } from "./settle.ts";

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
  /** All clocks of before count for nothing: every job is due again by the clock as it is. */
  reanchor(): Promise<void>;
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
const KEEP_SLOTS = 2_000;
const PRUNE_EVERY = 50;
const SANE_MS = Date.UTC(2025, 0, 1);
const DAY_MS = 86_400_000;

export function createScheduler(deps: CronDeps): Scheduler {
  const { clock, log } = deps;
  const { jobs, slots } = deps.store;
  const begunAt = clock.now();
  const running = new Map<string, Active>();
  const stopping = new AbortController();
  const gone = new AbortController();
  let seen = { wall: clock.now(), ticks: clock.ticks() };
  let timer: NodeJS.Timeout | undefined;
  let places = 0;
  let looking: Promise<void> | undefined;
  let again = false;
  let isOn = false;
  let saidInsane = false;
  let stuckAt: number | undefined;
  let ends = 0;

  const limit = (): number => deps.config().cron?.maxConcurrentRuns ?? 1;
  const mayRun = (): boolean =>
    isOn && !stopping.signal.aborted && !deps.isSkipped && deps.config().cron?.enabled !== false;

  const kick = (): void => {
    again = true;
    looking ??= lookAll().finally(() => {
      looking = undefined;
    });
  };
  const lookAll = async (): Promise<void> => {
    clearTimeout(timer);
    try {
      while (again && mayRun()) {
        again = false;
        if (await look()) again = true;
      }
      await arm();
    } catch (error) {
      log.error("cron: timer tick failed", { error });
      armIn(RETRY_MS);
    }
    // Asked again while the timer was being set.
    if (again && mayRun()) setImmediate(kick);
  };
  const armIn = (delayMs: number): void => {
    clearTimeout(timer);
    if (!stopping.signal.aborted) timer = setTimeout(kick, delayMs).unref();
  };
  const arm = async (): Promise<void> => {
    if (!mayRun()) return;
    const { nextAt } = await jobs.outlook();
    if (nextAt === undefined || places >= limit() || saidInsane) return armIn(RECHECK_MS);
    const delayMs = nextAt - clock.now();
    // Due, and yet the look before did not take it up (a damaged row): no reason to look without a pause.
    const isStuck = delayMs <= 0 && nextAt === stuckAt;
    stuckAt = delayMs <= 0 ? nextAt : undefined;
    armIn(isStuck ? RETRY_MS : Math.min(RECHECK_MS, Math.max(0, delayMs)));
  };

  /** True when something moved, so that there may be more to do. */
  const look = async (): Promise<boolean> => {
    const now = clock.now();
    if (!isSane(now)) return false;
    await noticeClock(now);
    const free = Math.max(0, limit() - places);
    const due = await jobs.due(now, free + running.size + 1);
    const busy = due.filter(({ id }) => running.has(id));
    const idle = due.filter(({ id }) => !running.has(id)).slice(0, free);
    const moved = await Promise.all([
      ...busy.map(({ id }) => skip(id, "it was still running")),
      ...idle.map((job) => begin(job, now)),
    ]);
    return moved.some(Boolean);
  };
  const isSane = (now: number): boolean => {
    const isFine = now >= SANE_MS;
    if (!isFine && !saidInsane)
      log.warn("cron: this machine does not know what day it is; jobs wait for its clock", { now });
    saidInsane = !isFine;
    return isFine;
  };
  const noticeClock = async (now: number): Promise<void> => {
    const drift = now - seen.wall - (clock.ticks() - seen.ticks);
    seen = { wall: now, ticks: clock.ticks() };
    if (Math.abs(drift) > 5_000) log.info(`cron: the clock moved by ${Math.round(drift / 1000)} s`);
    if (drift < -DAY_MS) await reanchor();
  };

  const skip = async (id: string, why: string): Promise<boolean> => {
    const now = clock.now();
    const rows = await jobs.claim(id, (job) => {
      if (job.nextAt === undefined || job.nextAt > now) return undefined;
      const { passed, job: moved } = planSkip(job, now, why);
      return { job: moved, rows: passed };
    });
    return rows.length > 0;
  };

  const begin = async (job: JobRecord, now: number): Promise<boolean> => {
    const { id } = job;
    const slot = newRun(job, "");
    const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
    running.set(id, { startedAt: now, ended: promise });
    places += 1;
    const release = (): void => {
      running.delete(id);
      places -= 1;
      resolve(undefined);
    };
    let plan: Plan | undefined;
    const rows = await jobs
      .claim(id, (current) => {
        if (current.nextAt === undefined || current.nextAt > now) return undefined;
        plan = planSlot(current, now);
        const { run, passed } = plan;
        if (run === undefined) return { job: letGo(plan.job), rows: passed };
        return { job: plan.job, rows: [...passed, slotRow(slot, run.at, run.isLate ? "late" : "due", now)] };
      })
      .catch((error: unknown) => {
        release();
        throw error;
      });
    const row = rows.find(({ state }) => state === "running");
    if (row === undefined || plan === undefined) {
      release();
      return rows.length > 0 || plan !== undefined;
    }
    if (row.why === "late")
      log.info(`cron: ${bodyOf(plan.job).name} runs ${Math.round((now - row.at) / 1000)} s late`, { jobId: id });
    follow(runOf(plan.job, row), now, false, resolve);
    return true;
  };

  const claimNow = async (id: string, mode: "force" | "due", now: number): Promise<Run | undefined> => {
    const found = await jobs.get(id);
    if (found === undefined) return undefined;
    const slot = newRun(found, mode === "due" ? "" : `run-${newId()}`);
    let claimed = found;
    const rows = await jobs.claim(id, (current) => {
      const plan = mode === "due" && (current.nextAt ?? Infinity) <= now ? planSlot(current, now) : undefined;
      claimed = plan?.job ?? current;
      if (plan === undefined) return { job: current, rows: [slotRow(slot, now, "by hand", now)] };
      if (plan.run === undefined) return { job: letGo(plan.job), rows: plan.passed };
      return { job: plan.job, rows: [...plan.passed, slotRow(slot, plan.run.at, "due", now)] };
    });
    const row = rows.find(({ state }) => state === "running");
    return row === undefined ? undefined : runOf(claimed, row);
  };

  const newRun = (job: JobRecord, name: string): Pick<SlotRecord, "jobId" | "slot" | "runId" | "sessionKey"> => {
    const runId = newId();
    const agent = agentOf(bodyOf(job), deps.config());
    return {
      jobId: job.id,
      slot: name,
      runId: `cron:${runId}`,
      ...(bodyOf(job).sessionTarget === "main" ? {} : { sessionKey: `agent:${agent}:cron:${job.id}:run:${runId}` }),
    };
  };
  const slotRow = (
    slot: Pick<SlotRecord, "jobId" | "slot" | "runId" | "sessionKey">,
    at: number,
    why: string,
    now: number,
  ): SlotRecord => ({
    ...slot,
    slot: slot.slot === "" ? String(at) : slot.slot,
    at,
    state: "running",
    why,
    startedAt: now,
  });
  const runOf = (job: JobRecord, slot: SlotRecord): Run => ({
    job,
    slot,
    isCatchUp: slot.at < begunAt,
    stopping: stopping.signal,
    gone: gone.signal,
  });

  /** The row is there; from here on it gets exactly one end. */
  const follow = (run: Run, startedAt: number, byHand: boolean, resolve: (end: RunEnd | undefined) => void): void => {
    const { job, slot } = run;
    deps.emit({ jobId: job.id, action: "started", runAtMs: startedAt });
    const work = async (): Promise<RunEnd | undefined> => {
      const done = await perform(deps, run);
      if (done === undefined) return undefined;
      const undelivered = await deliver(deps, run, done);
      const end: RunEnd = undelivered === undefined ? done : { ...done, state: "failed", error: undelivered };
      await finish(run, end, startedAt, byHand);
      return end;
    };
    work()
      .catch((error: unknown) => {
        log.error("the end of a job could not be written; its row stays open", {
          error,
          jobId: job.id,
          slot: slot.slot,
        });
        return undefined;
      })
      .then((end) => {
        running.delete(job.id);
        if (!byHand) places -= 1;
        resolve(end);
        kick();
      })
      .catch((error: unknown) => log.error("a job could not be let go", { error, jobId: job.id }));
  };

  const finish = async (run: Run, end: RunEnd, startedAt: number, byHand: boolean): Promise<void> => {
    const { job, slot } = run;
    const now = clock.now();
    const summary = short(end.text);
    await persistently(async () => {
      await skip(job.id, "it was still running");
      await jobs.finish(
        slot,
        {
          state: end.state,
          endedAt: now,
          ...(end.why === undefined ? {} : { why: end.why }),
          ...(end.error === undefined ? {} : { error: end.error.slice(0, 2000).toWellFormed() }),
          ...(end.sessionId === undefined ? {} : { sessionId: end.sessionId }),
          ...(summary === "" ? {} : { summary }),
        },
        (current) => settled(current, { end, startedAt, now, byHand }),
      );
    });
    if (end.state === "failed")
      log.warn(`cron: ${bodyOf(job).name} failed: ${end.error ?? ""}`, { jobId: job.id, slot: slot.slot });
    const next = (await jobs.get(job.id))?.nextAt;
    deps.emit({
      jobId: job.id,
      action: "finished",
      status: statusOf(end),
      ...(end.error === undefined ? {} : { error: end.error }),
      summary,
      runAtMs: startedAt,
      durationMs: Math.max(0, now - startedAt),
      ...(next === undefined ? {} : { nextRunAtMs: next }),
      ...(end.sessionId === undefined ? {} : { sessionId: end.sessionId }),
      ...(slot.sessionKey === undefined ? {} : { sessionKey: slot.sessionKey }),
    });
    await tidy(run, end).catch((error: unknown) => log.warn("cron: what is left of a run stays", { error }));
  };
  const tidy = async (run: Run, { sessionId }: RunEnd): Promise<void> => {
    if (sessionId !== undefined) await keepSession(deps, run, sessionId);
    ends += 1;
    if (ends % PRUNE_EVERY === 1) await slots.prune(run.job.id, KEEP_SLOTS);
  };
  /** A full disk may have room again; a job whose end is not written must not begin anew. */
  const persistently = async (write: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        if (gone.signal.aborted) throw error;
        log.error("the end of a job could not be written; trying again", { error });
        await sleep(RETRY_MS, undefined, { ref: false, signal: gone.signal });
      }
    }
  };

  const reanchor = async (): Promise<void> => {
    const now = clock.now();
    for (const { id } of await jobs.list()) {
      await jobs.update(id, (job) => {
        const candidate = nextFire(bodyOf(job).schedule, now);
        if (job.nextAt === undefined || candidate === undefined || candidate + DAY_MS >= job.nextAt) return undefined;
        return { ...job, nextAt: candidate };
      });
    }
  };

  return {
    kick,
    reanchor,
    start() {
      isOn = true;
      kick();
    },
    resume(job, slot) {
      const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
      const startedAt = slot.startedAt ?? clock.now();
      running.set(job.id, { startedAt, ended: promise });
      const byHand = slot.slot.startsWith("run-");
      if (!byHand) places += 1;
      follow({ ...runOf(job, slot), isCatchUp: true }, startedAt, byHand, resolve);
    },
    async runNow(id, mode) {
      if (running.has(id)) return undefined;
      const now = clock.now();
      const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
      running.set(id, { startedAt: now, ended: promise });
      const claimed = await claimNow(id, mode, now).catch((error: unknown) => {
        running.delete(id);
        throw error;
      });
      if (claimed === undefined) {
        running.delete(id);
        resolve(undefined);
        return undefined;
      }
      follow(claimed, now, true, resolve);
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
}

/** A one-shot whose only time was let go has nothing to wait for. */
function letGo(job: JobRecord): JobRecord {
  return bodyOf(job).schedule.kind === "at" ? switchedOff(job) : job;
}
