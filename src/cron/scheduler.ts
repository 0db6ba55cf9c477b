// The scheduler: one timer that starts due jobs in order, up to the limit of concurrent runs.
import { setTimeout as sleep } from "node:timers/promises";

import type { JobRecord, SlotRecord } from "../store/store.ts";
import { createClockWatch } from "./clock-watch.ts";
import type { CronDeps } from "./deps.ts";
import { deliver } from "./deliver.ts";
import { createFinish } from "./finish.ts";
import { bodyOf } from "./job.ts";
import type { Gap } from "./misfire.ts";
import { perform, type Run, type RunEnd } from "./perform.ts";
import { createClaims, isByHand, type Claimed, type Claims } from "./slots.ts";

export interface Started {
  readonly runId: string;
  readonly ended: Promise<RunEnd | undefined>;
}

interface Active {
  readonly startedAt: number;
  readonly ended: Promise<RunEnd | undefined>;
}

/** Longest pause between two checks: the wall clock can be set, or the machine can sleep. */
const RECHECK_MS = 30_000;
const RETRY_MS = 5_000;
const CLOSE_MS = 3_000;

export class Scheduler {
  readonly #deps: CronDeps;
  readonly #startedAt: number;
  /** By job id. */
  readonly #running = new Map<string, Active>();
  readonly #stopping = new AbortController();
  readonly #closed = new AbortController();
  readonly #claims: Claims;
  readonly #finish: ReturnType<typeof createFinish>;
  readonly #watch: ReturnType<typeof createClockWatch>;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;
  #mustCheckAgain = false;
  #isOn = false;
  /** Runs that count against the limit; those started by hand do not. */
  #scheduledRuns = 0;
  #fullSince: number | undefined;
  /** A due time that the last check could not claim. */
  #stuckAt: number | undefined;

  constructor(deps: CronDeps) {
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
    this.#watch = createClockWatch(deps);
    this.#claims = createClaims(deps, this.#watch);
    this.#finish = createFinish(deps, this.#claims, this.#closed.signal);
  }

  start(): void {
    this.#isOn = true;
    this.check();
  }

  /** Checks for due jobs now, because something changed. */
  check(): void {
    this.#mustCheckAgain = true;
    this.#checking ??= this.#checkAll();
  }

  /** Continues a row of an earlier process that had not begun or can be followed. */
  resume(job: JobRecord, slot: SlotRecord): void {
    const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
    const startedAt = slot.startedAt ?? this.#deps.clock.now();
    this.#running.set(job.id, { startedAt, ended: promise });
    if (!isByHand(slot)) this.#scheduledRuns += 1;
    this.#follow({ ...this.#runOf({ job, slot }), isCatchUp: true }, startedAt, resolve);
  }

  /** Starts a run outside the schedule and its limit. Undefined when the job already runs or no longer exists. */
  async runNow(id: string, mode: "force" | "due"): Promise<Started | undefined> {
    if (this.#running.has(id)) return undefined;
    const now = this.#deps.clock.now();
    const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
    this.#running.set(id, { startedAt: now, ended: promise });
    const claimed = await this.#claims.byHand(id, mode, now).catch((error: unknown) => {
      this.#running.delete(id);
      throw error;
    });
    if (claimed === undefined) {
      this.#running.delete(id);
      return undefined;
    }
    // A due slot of the schedule counts against the limit, also when a person starts it.
    if (!isByHand(claimed.slot)) this.#scheduledRuns += 1;
    this.#follow(this.#runOf(claimed), now, resolve);
    return { runId: claimed.slot.runId ?? "", ended: promise };
  }

  /** When the current run began. */
  runningSince(id: string): number | undefined {
    return this.#running.get(id)?.startedAt;
  }

  /** Starts no more runs, and stops running commands and tools. */
  stop(): void {
    this.#stopping.abort();
    clearTimeout(this.#timer);
  }

  /** Waits a moment until runs have stored their end; the next process recovers those that have not. */
  async close(): Promise<void> {
    this.stop();
    await this.#checking;
    const all = Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await Promise.race([all, sleep(CLOSE_MS, undefined, { ref: false })]);
    this.#closed.abort();
  }

  async #checkAll(): Promise<void> {
    // Lets `check` store this promise before the code below can clear it.
    await Promise.resolve();
    clearTimeout(this.#timer);
    try {
      do {
        while (this.#mustCheckAgain && this.#mayRun()) {
          this.#mustCheckAgain = false;
          if (await this.#startDue()) this.#mustCheckAgain = true;
        }
        await this.#armForNext();
        // `check` can be called while the timer is being set.
      } while (this.#mustCheckAgain && this.#mayRun());
    } catch (error) {
      this.#deps.log.error("cron: timer tick failed", { error });
      this.#arm(RETRY_MS);
    }
    // In the same tick as the last test of `mustCheckAgain`, so that a later call starts a new check.
    this.#checking = undefined;
  }

  /** True when a job moved on, so that there may be more to do. */
  async #startDue(): Promise<boolean> {
    if (!this.#watch.isSane()) return false;
    await this.#watch.notice();
    const now = this.#deps.clock.now();
    const free = Math.max(0, this.#limit() - this.#scheduledRuns);
    const due = await this.#deps.store.jobs.due(now, free + this.#running.size + 1);
    const busy = due.filter(({ id }) => this.#running.has(id));
    const waiting = due.filter(({ id }) => !this.#running.has(id));
    const gaps = [...this.#watch.jumps(), ...this.#fullGap()];
    const moved = await Promise.all([
      ...busy.map(({ id }) => this.#claims.skip(id, "it was still running")),
      ...waiting.slice(0, free).map((job) => this.#begin(job, now, gaps)),
    ]);
    const isFull = this.#scheduledRuns >= this.#limit();
    // A run may have ended meanwhile; jobs that this check left waiting keep the reason until the next one starts them.
    if (waiting.length > free) this.#fullSince ??= now;
    else this.#fullSince = isFull ? now : undefined;
    return moved.some(Boolean);
  }

  async #begin(job: JobRecord, now: number, gaps: readonly Gap[]): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<RunEnd | undefined>();
    this.#running.set(job.id, { startedAt: now, ended: promise });
    this.#scheduledRuns += 1;
    const release = (): void => {
      this.#running.delete(job.id);
      this.#scheduledRuns -= 1;
    };
    const { claimed, moved } = await this.#claims.due(job, now, gaps).catch((error: unknown) => {
      release();
      throw error;
    });
    if (claimed === undefined) {
      release();
      return moved;
    }
    const { slot } = claimed;
    if (slot.why === "late") {
      const lateSeconds = Math.round((now - slot.at) / 1000);
      this.#deps.log.info(`cron: ${bodyOf(job).name} runs ${lateSeconds} s late`, { jobId: job.id });
    }
    this.#follow(this.#runOf(claimed), now, resolve);
    return true;
  }

  /** Runs a claimed slot; its row gets exactly one end. */
  #follow(run: Run, startedAt: number, resolve: (end: RunEnd | undefined) => void): void {
    const { job, slot } = run;
    const byHand = isByHand(slot);
    this.#deps.emit({ jobId: job.id, action: "started", runAtMs: startedAt });
    const release = (end: RunEnd | undefined): void => {
      this.#running.delete(job.id);
      if (!byHand) this.#scheduledRuns -= 1;
      resolve(end);
      this.check();
    };
    this.#perform(run, startedAt, byHand).then(release, (error: unknown) => {
      const facts = { error, jobId: job.id, slot: slot.slot };
      this.#deps.log.error("cron: the end of a run could not be stored; its row stays open", facts);
      release(undefined);
    });
  }

  async #perform(run: Run, startedAt: number, byHand: boolean): Promise<RunEnd | undefined> {
    const done = await perform(this.#deps, run);
    if (done === undefined) return undefined;
    const undelivered = await deliver(this.#deps, run, done);
    const end: RunEnd = undelivered === undefined ? done : { ...done, state: "failed", error: undelivered };
    await this.#finish(run, { end, startedAt, byHand });
    return end;
  }

  async #armForNext(): Promise<void> {
    if (!this.#mayRun()) return;
    const { nextAt } = await this.#deps.store.jobs.outlook();
    if (nextAt === undefined || this.#scheduledRuns >= this.#limit() || !this.#watch.isSane())
      return this.#arm(RECHECK_MS);
    const delayMs = nextAt - this.#deps.clock.now();
    // A damaged row stays due after a check; it must not make the timer spin.
    const isStuck = delayMs <= 0 && nextAt === this.#stuckAt;
    this.#stuckAt = delayMs <= 0 ? nextAt : undefined;
    this.#arm(isStuck ? RETRY_MS : Math.min(RECHECK_MS, Math.max(0, delayMs)));
  }

  #arm(delayMs: number): void {
    clearTimeout(this.#timer);
    if (!this.#stopping.signal.aborted) this.#timer = setTimeout(() => this.check(), delayMs).unref();
  }

  #mayRun(): boolean {
    const { isSkipped, config } = this.#deps;
    return this.#isOn && !this.#stopping.signal.aborted && !isSkipped && config().cron?.enabled !== false;
  }

  #limit(): number {
    return this.#deps.config().cron?.maxConcurrentRuns ?? 1;
  }

  /** The reason for slots that were missed because the limit was reached. */
  #fullGap(): readonly Gap[] {
    if (this.#fullSince === undefined) return [];
    const why = `other jobs ran (cron.maxConcurrentRuns is ${this.#limit()})`;
    return [{ fromMs: this.#fullSince, untilMs: Infinity, why }];
  }

  #runOf({ job, slot }: Claimed): Run {
    const isCatchUp = slot.at < this.#startedAt;
    return { job, slot, isCatchUp, stopping: this.#stopping.signal, closed: this.#closed.signal };
  }
}
