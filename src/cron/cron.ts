// Jobs: add, change, remove, run and list them. The tool, the wire and the command line all use this service.
import type { AgentId, SessionKey } from "../core/names.ts";
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { createLanes } from "../base/lane.ts";
import type { Config } from "../config/schema/index.ts";
import { DAY_MS } from "../base/duration.ts";
import { newId } from "../base/ids.ts";
import type { JobRecord, SlotRecord } from "../store/store.ts";
import { checkJob } from "./check.ts";
import { checkSchedule, isFrequent } from "./check-schedule.ts";
import { followBack, STEP_MS } from "./clock-watch.ts";
import type { CronDeps } from "./deps.ts";
import { toEntry, type RunEntry } from "./entry.ts";
import { bodyOf, toJob, type Job, type JobBody, type Schedule } from "./job.ts";
import { planSkip } from "./misfire.ts";
import { normalizeJob } from "./normalize.ts";
import type { OutputPage } from "./outputs.ts";
import { isMoreOften, patched } from "./patch.ts";
import { previewOf, type Preview } from "./preview.ts";
import { recoverRuns } from "./recover.ts";
import { unknownJob } from "./refuse.ts";
import { nextFire } from "./schedule.ts";
import { Scheduler } from "./scheduler.ts";
import { importLegacyJobs } from "./import-legacy-jobs.ts";
import type { CronRunStarted, CronStatus } from "../protocol/methods/cron.ts";

export type { CronStatus };

export interface Cron {
  status(): Promise<CronStatus>;
  /** By next run; jobs without one come last. */
  list(options?: { readonly includeDisabled?: boolean }): Promise<Job[]>;
  get(id: string): Promise<Job>;
  /** Durable when it resolves. Throws `cron.invalid` and `cron.too-many`. */
  add(input: unknown, from?: JobOrigin): Promise<Job>;
  update(id: string, patch: unknown): Promise<Job>;
  remove(id: string): Promise<{ readonly ok: true; readonly removed: boolean }>;
  /** `ended` resolves when the run is over. */
  run(id: string, mode: "force" | "due"): Promise<RunAnswer>;
  /** Ended slots, newest last. */
  runs(id: string, limit: number): Promise<RunEntry[]>;
  /** Lines of the output of one run of a command or tool. Throws `cron.no-output`. */
  output(id: string, slot: string, page: { readonly offset: number; readonly limit: number }): Promise<OutputPage>;
  /** The job as it would be stored, and its next times; stores nothing. */
  preview(input: unknown, count: number): Promise<Preview & { readonly job?: Job; readonly schedule: Schedule }>;
}

/** Who created a job, for fields that the job itself leaves out. */
export interface JobOrigin {
  readonly agent?: AgentId;
  /** The chat that its note or result goes to. */
  readonly session?: SessionKey | undefined;
}

export interface CronEngine extends Cron {
  /** Recovers runs of an earlier process, imports an older file and starts the timer. */
  start(): Promise<void>;
  /** Applies a changed config. */
  reload(): void;
  stop(): void;
  close(): Promise<void>;
}

export interface RunAnswer extends CronRunStarted {
  readonly ended?: Promise<unknown>;
}

const MAX_JOBS = 20_000;
const MAX_FREQUENT = 100;
const RECOVER_AGAIN_MS = 30_000;
const KEEP_REMOVED_MS = 90 * DAY_MS;

export class CronService implements CronEngine {
  readonly #deps: CronDeps;
  readonly #scheduler: Scheduler;
  readonly #lanes = createLanes();
  #recovering: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: CronDeps) {
    this.#deps = deps;
    this.#scheduler = new Scheduler(deps);
  }

  async status(): Promise<CronStatus> {
    const { jobs } = this.#deps.store;
    const { nextAt } = await jobs.outlook();
    const enabled = this.#isOn();
    return { enabled, jobs: await jobs.count(), nextWakeAtMs: enabled ? (nextAt ?? null) : null };
  }

  async list({ includeDisabled = false }: { readonly includeDisabled?: boolean } = {}): Promise<Job[]> {
    const records = await this.#deps.store.jobs.list();
    return records
      .filter((record) => includeDisabled || bodyOf(record).enabled)
      .toSorted((a, b) => (a.nextAt ?? Infinity) - (b.nextAt ?? Infinity) || 0)
      .map((record) => this.#shown(record));
  }

  async get(id: string): Promise<Job> {
    return this.#shown(await this.#required(id));
  }

  add(input: unknown, from?: JobOrigin): Promise<Job> {
    return this.#change(async () => {
      const record = newRecord(input, this.#deps.config(), this.#deps.clock.now(), from);
      await this.#requireCapacity(bodyOf(record));
      await this.#deps.store.jobs.put(record);
      this.#announce(record, "added");
      return this.#shown(record);
    });
  }

  update(id: string, patch: unknown): Promise<Job> {
    return this.#change(async () => {
      const { config, clock } = this.#deps;
      const record = await this.#required(id);
      const body = patched(bodyOf(record), patch, config(), clock.now());
      if (isMoreOften(bodyOf(record), body)) await this.#requireCapacity(body, id);
      const updated = await this.#replaceBody(record, body);
      this.#announce(updated, "updated");
      return this.#shown(updated);
    });
  }

  remove(id: string): Promise<{ readonly ok: true; readonly removed: boolean }> {
    return this.#change(async () => {
      const { store, clock, outputs, emit } = this.#deps;
      await store.jobs.claim(id, (job) => skipDueSlot(job, clock.now(), "the job was removed"));
      const removed = await store.jobs.delete(id);
      await outputs.remove(id);
      if (removed) emit({ jobId: id, action: "removed" });
      this.#scheduler.check();
      return { ok: true as const, removed };
    });
  }

  async run(id: string, mode: "force" | "due"): Promise<RunAnswer> {
    const record = await this.#required(id);
    if (mode === "due" && (record.nextAt === undefined || record.nextAt > this.#deps.clock.now()))
      return { ok: true, ran: false, reason: "not-due" };
    const started = await this.#scheduler.runNow(id, mode);
    if (started === undefined) return { ok: true, ran: false, reason: "already-running" };
    return { ok: true, ran: true, runId: started.runId, ended: started.ended };
  }

  async runs(id: string, limit: number): Promise<RunEntry[]> {
    const { jobs, slots } = this.#deps.store;
    const [rows, record] = await Promise.all([slots.list(id, limit), jobs.get(id)]);
    const body = record === undefined ? undefined : bodyOf(record);
    return rows.filter(({ state }) => state !== "running").map((row) => toEntry(row, body));
  }

  async output(
    id: string,
    slot: string,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<OutputPage> {
    const page = await this.#deps.outputs.page(id, slot, offset, limit);
    if (page !== undefined) return page;
    throw new OpenClawError("cron.no-output", `no output is stored for slot ${slot.slice(0, 80)} of this job`, {
      hint: "runs without a slot lists the slots; output of commands and tools is stored for the last 50 runs",
    });
  }

  async preview(input: unknown, count: number): Promise<Preview & { readonly job?: Job; readonly schedule: Schedule }> {
    const { config, clock } = this.#deps;
    const now = clock.now();
    const raw = isRecord(input) ? input : {};
    const id = raw["id"] ?? raw["jobId"];
    const requested = typeof id === "string" ? undefined : normalizeJob(input);
    if (requested !== undefined && requested["payload"] === undefined) {
      const schedule = checkSchedule(requested["schedule"], now);
      return { ...previewOf(schedule, now, count), schedule };
    }
    const record = typeof id === "string" ? await this.#required(id) : newRecord(input, config(), now);
    const job = this.#shown(record);
    return { ...previewOf(job.schedule, now, count), job, schedule: job.schedule };
  }

  async start(): Promise<void> {
    const { store, clock, outputs } = this.#deps;
    this.#warnWhenOff();
    this.#recoverLater(await recoverRuns(this.#deps, this.#scheduler));
    // Jobs run even when one of these fails, because a full disk can have space again later.
    const before = clock.now() - KEEP_REMOVED_MS;
    await this.#attempt("jobs of an older file are imported at the next start", () => importLegacyJobs(this.#deps));
    await this.#attempt("rows of removed jobs stay", () => store.slots.pruneGone(before));
    const exists = async (id: string): Promise<boolean> => (await store.jobs.get(id)) !== undefined;
    await this.#attempt("output of removed jobs stays", () => outputs.prune(exists, before));
    const backMs = ((await store.slots.latest()) ?? 0) - clock.now();
    if (backMs > STEP_MS)
      await this.#attempt("jobs wait for times that a wrong clock set", () => followBack(this.#deps, backMs));
    this.#scheduler.start();
  }

  reload(): void {
    this.#warnWhenOff();
    this.#scheduler.check();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#recovering);
    this.#scheduler.stop();
  }

  close(): Promise<void> {
    this.stop();
    return this.#scheduler.close();
  }

  /** One change at a time: the limits count jobs, and a patch applies to the job it was made for. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    return this.#lanes.run("change", work);
  }

  async #required(id: string): Promise<JobRecord> {
    const record = await this.#deps.store.jobs.get(id);
    if (record === undefined) throw unknownJob(id);
    return record;
  }

  #shown(record: JobRecord): Job {
    return toJob(record, this.#scheduler.runningSince(record.id));
  }

  #isOn(): boolean {
    return !this.#deps.isSkipped && this.#deps.config().cron?.enabled !== false;
  }

  #warnWhenOff(): void {
    if (this.#isOn()) return;
    this.#deps.log.warn("cron: scheduler disabled; jobs will not run automatically", { hint: "cron.enabled" });
  }

  #recoverLater(left: readonly SlotRecord[]): void {
    if (left.length === 0 || this.#isStopped) return;
    const again = (): void => {
      recoverRuns(this.#deps, this.#scheduler, left).then(
        (still) => this.#recoverLater(still),
        (error: unknown) => this.#deps.log.error("cron: recovery failed", { error }),
      );
    };
    this.#recovering = setTimeout(again, RECOVER_AGAIN_MS).unref();
  }

  async #attempt(consequence: string, work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => this.#deps.log.error(`cron: ${consequence}`, { error }));
  }

  async #requireCapacity(body: JobBody, except?: string): Promise<void> {
    const { jobs } = this.#deps.store;
    if (except === undefined && (await jobs.count()) >= MAX_JOBS)
      throw new OpenClawError("cron.too-many", `there are ${MAX_JOBS} jobs already`, { hint: "openclaw cron rm <id>" });
    const now = this.#deps.clock.now();
    if (!body.enabled || !isFrequent(body.schedule, now)) return;
    const others = (await jobs.list()).filter((job) => job.id !== except && bodyOf(job).enabled);
    const frequent = others.filter((job) => mayBeFrequent(bodyOf(job)) && isFrequent(bodyOf(job).schedule, now));
    if (frequent.length < MAX_FREQUENT) return;
    throw new OpenClawError("cron.too-many", `${MAX_FREQUENT} jobs already run more than once a minute`, {
      hint: "let it run less often, or remove others: openclaw cron list",
    });
  }

  async #replaceBody(record: JobRecord, body: JobBody): Promise<JobRecord> {
    const { jobs } = this.#deps.store;
    const now = this.#deps.clock.now();
    const before = bodyOf(record);
    const isMoved = JSON.stringify([before.schedule, before.enabled]) !== JSON.stringify([body.schedule, body.enabled]);
    const why = body.enabled ? "its schedule was changed" : "the job was disabled";
    if (isMoved) await jobs.claim(record.id, (job) => skipDueSlot(job, now, why));
    const next = firstFire(body, now);
    const updated = await jobs.update(record.id, ({ nextAt, ...job }) => {
      const at = isMoved ? next : nextAt;
      return { ...job, ...(at === undefined ? {} : { nextAt: at }), body, updatedAt: now };
    });
    if (updated === undefined) throw unknownJob(record.id);
    return updated;
  }

  #announce({ id, nextAt }: JobRecord, action: "added" | "updated"): void {
    this.#deps.emit({ jobId: id, action, ...(nextAt === undefined ? {} : { nextRunAtMs: nextAt }) });
    this.#scheduler.check();
  }
}

function newRecord(input: unknown, config: Config, now: number, { agent, session }: JobOrigin = {}): JobRecord {
  const raw = normalizeJob(input);
  const named = raw["agentId"] === undefined && agent !== undefined ? { ...raw, agentId: agent } : raw;
  const body: JobBody = { ...checkJob(named, config, now), ...(session === undefined ? {} : { sessionKey: session }) };
  const next = firstFire(body, now);
  const dates = { createdAt: now, updatedAt: now };
  return { id: newId(), ...(next === undefined ? {} : { nextAt: next }), ...dates, body, state: {} };
}

/** A one-shot whose time passed within the last day still runs. */
function firstFire({ enabled, schedule }: JobBody, now: number): number | undefined {
  return enabled ? nextFire(schedule, now - (schedule.kind === "at" ? DAY_MS : 0)) : undefined;
}

/** A due slot that has not begun gets its row before the job changes. */
function skipDueSlot(
  job: JobRecord,
  now: number,
  why: string,
): { job: JobRecord; rows: readonly SlotRecord[] } | undefined {
  if (job.nextAt === undefined || job.nextAt > now) return undefined;
  const plan = planSkip(job, now, why);
  return { job: plan.job, rows: plan.passed };
}

/** A cheap test for thousands of jobs: a schedule of five fields fires at most once a minute. */
function mayBeFrequent({ schedule }: JobBody): boolean {
  if (schedule.kind === "every") return schedule.everyMs < 60_000;
  return schedule.kind === "cron" && schedule.expr.split(" ").length > 5;
}
