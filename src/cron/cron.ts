// Jobs at set times: added, changed, removed, run, looked at. Every door to them comes here.
import type { AgentId, SessionKey } from "../core/names.ts";
import { OpenClawError } from "../core/error.ts";
import { isRecord } from "../core/record.ts";
import { createLanes } from "../base/lane.ts";
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
import { normaliseJob } from "./normalise.ts";
import type { OutputPage } from "./outputs.ts";
import { isMoreOften, patched } from "./patch.ts";
import { previewOf, type Preview } from "./preview.ts";
import { recoverRuns } from "./recover.ts";
import { unknownJob } from "./refuse.ts";
import { nextFire } from "./schedule.ts";
import { createScheduler } from "./scheduler.ts";
import { takeOverOlder } from "./import-legacy-jobs.ts";
import type { CronRunStarted, CronStatus } from "../protocol/methods/cron.ts";

export type { CronStatus };

export interface Cron {
  status(): Promise<CronStatus>;
  /** By next run; those that wait for nothing last. */
  list(options?: { readonly includeDisabled?: boolean }): Promise<Job[]>;
  get(id: string): Promise<Job>;
  /** Durable when it resolves. Throws `cron.invalid` and `cron.too-many`. */
  add(input: unknown, from?: JobOrigin): Promise<Job>;
  update(id: string, patch: unknown): Promise<Job>;
  remove(id: string): Promise<{ readonly ok: true; readonly removed: boolean }>;
  /** `ended` comes when the run is over. */
  run(id: string, mode: "force" | "due"): Promise<RunAnswer>;
  /** Rows of its slots that have ended, newest last. */
  runs(id: string, limit: number): Promise<RunEntry[]>;
  /** What one run of a command or a tool put out, by lines. Throws `cron.no-output`. */
  output(id: string, slot: string, page: { readonly offset: number; readonly limit: number }): Promise<OutputPage>;
  /** What a job would do, without keeping it: the job as it would be kept, and its next times. */
  preview(input: unknown, count: number): Promise<Preview & { readonly job?: Job; readonly schedule: Schedule }>;
}

/** Who made a job, where the job itself does not say. */
export interface JobOrigin {
  readonly agent?: AgentId;
  /** The chat that its line or result goes to. */
  readonly session?: SessionKey | undefined;
}

export interface CronEngine extends Cron {
  /** Closes what a dead process left, takes over an older file, and begins to look at the clock. */
  start(): Promise<void>;
  /** The config changed. */
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
const KEEP_GONE_MS = 90 * DAY_MS;

export function createCron(deps: CronDeps): CronEngine {
  const { clock, log, config } = deps;
  const { jobs, slots } = deps.store;
  const scheduler = createScheduler(deps);
  const lanes = createLanes();
  let recovering: NodeJS.Timeout | undefined;
  let isStopped = false;
  const shown = (record: JobRecord): Job => toJob(record, scheduler.runningSince(record.id));
  const isOn = (): boolean => !deps.isSkipped && config().cron?.enabled !== false;
  /** One change at a time: caps are counted, and a patch is applied to what it was made for. */
  const change = <T>(work: () => Promise<T>): Promise<T> => lanes.run("change", work);
  const required = async (id: string): Promise<JobRecord> => {
    const record = await jobs.get(id);
    if (record === undefined) throw unknownJob(id);
    return record;
  };
  const warnWhenOff = (): void => {
    if (!isOn()) log.warn("cron: scheduler disabled; jobs will not run automatically", { hint: "cron.enabled" });
  };

  return {
    async status() {
      const { nextAt } = await jobs.outlook();
      const enabled = isOn();
      return { enabled, jobs: await jobs.count(), nextWakeAtMs: enabled ? (nextAt ?? null) : null };
    },
    async list({ includeDisabled = false } = {}) {
      const found = (await jobs.list()).filter((record) => includeDisabled || bodyOf(record).enabled);
      return found
        .toSorted((a, b) => (a.nextAt ?? Infinity) - (b.nextAt ?? Infinity) || 0)
        .map((record) => shown(record));
    },
    get: async (id) => shown(await required(id)),
    add: (input, from) =>
      change(async () => {
        const record = newRecord(input, from);
        await requireRoom(bodyOf(record));
        await jobs.put(record);
        tell(record, "added");
        return shown(record);
      }),
    update: (id, patch) =>
      change(async () => {
        const record = await required(id);
        const body = patched(bodyOf(record), patch, config(), clock.now());
        if (isMoreOften(bodyOf(record), body)) await requireRoom(body, id);
        const moved = await moveTo(record, body);
        tell(moved, "updated");
        return shown(moved);
      }),
    remove: (id) =>
      change(async () => {
        await jobs.claim(id, (job) => givenUp(job, "the job was removed"));
        const removed = await jobs.delete(id);
        await deps.outputs.remove(id);
        if (removed) deps.emit({ jobId: id, action: "removed" });
        scheduler.kick();
        return { ok: true as const, removed };
      }),
    async run(id, mode) {
      const record = await required(id);
      if (mode === "due" && (record.nextAt === undefined || record.nextAt > clock.now()))
        return { ok: true, ran: false, reason: "not-due" };
      const started = await scheduler.runNow(id, mode);
      if (started === undefined) return { ok: true, ran: false, reason: "already-running" };
      return { ok: true, ran: true, runId: started.runId, ended: started.ended };
    },
    async runs(id, limit) {
      const [rows, record] = await Promise.all([slots.list(id, limit), jobs.get(id)]);
      const body = record === undefined ? undefined : bodyOf(record);
      return rows.filter(({ state }) => state !== "running").map((row) => toEntry(row, body));
    },
    async output(id, slot, { offset, limit }) {
      const page = await deps.outputs.page(id, slot, offset, limit);
      if (page !== undefined) return page;
      throw new OpenClawError("cron.no-output", `no output is kept for slot ${slot.slice(0, 80)} of this job`, {
        hint: "runs without a slot lists the slots; output of commands and tools is kept for the last 50 runs",
      });
    },
    async preview(input, count) {
      const raw = isRecord(input) ? input : {};
      const id = raw["id"] ?? raw["jobId"];
      if (typeof id === "string") {
        const job = shown(await required(id));
        return { ...previewOf(job.schedule, clock.now(), count), job, schedule: job.schedule };
      }
      const wished = normaliseJob(input);
      if (wished["payload"] === undefined) {
        const schedule = checkSchedule(wished["schedule"], clock.now());
        return { ...previewOf(schedule, clock.now(), count), schedule };
      }
      const job = shown(newRecord(input));
      return { ...previewOf(job.schedule, clock.now(), count), job, schedule: job.schedule };
    },
    async start() {
      warnWhenOff();
      recoverLater(await recoverRuns(deps, scheduler));
      // None of these is a reason for jobs not to run: a full disk has room again one day.
      await tried("jobs of an older file are taken over at the next start", () => takeOverOlder(deps));
      await tried("rows of jobs that are gone stay", () => slots.pruneGone(clock.now() - KEEP_GONE_MS));
      const isThere = async (id: string): Promise<boolean> => (await jobs.get(id)) !== undefined;
      await tried("output of jobs that are gone stays", () => deps.outputs.prune(isThere, clock.now() - KEEP_GONE_MS));
      const latest = await slots.latest();
      const backMs = (latest ?? 0) - clock.now();
      if (backMs > STEP_MS)
        await tried("jobs wait for times that a wrong clock gave them", () => followBack(deps, backMs));
      scheduler.start();
    },
    reload() {
      warnWhenOff();
      scheduler.kick();
    },
    stop() {
      isStopped = true;
      clearTimeout(recovering);
      scheduler.stop();
    },
    close() {
      isStopped = true;
      clearTimeout(recovering);
      return scheduler.close();
    },
  };

  function recoverLater(left: readonly SlotRecord[]): void {
    if (left.length === 0 || isStopped) return;
    const again = (): void => {
      recoverRuns(deps, scheduler, left).then(recoverLater, (error: unknown) => log.error("cron", { error }));
    };
    recovering = setTimeout(again, RECOVER_AGAIN_MS).unref();
  }

  async function tried(what: string, work: () => Promise<unknown>): Promise<void> {
    await work().catch((error: unknown) => log.error(`cron: ${what}`, { error }));
  }

  function newRecord(input: unknown, { agent, session }: JobOrigin = {}): JobRecord {
    const now = clock.now();
    const raw = normaliseJob(input);
    const named = raw["agentId"] === undefined && agent !== undefined ? { ...raw, agentId: agent } : raw;
    const body: JobBody = {
      ...checkJob(named, config(), now),
      ...(session === undefined ? {} : { sessionKey: session }),
    };
    const next = body.enabled ? nextFire(body.schedule, now - (body.schedule.kind === "at" ? DAY_MS : 0)) : undefined;
    const dates = { createdAt: now, updatedAt: now };
    return { id: newId(), ...(next === undefined ? {} : { nextAt: next }), ...dates, body, state: {} };
  }

  async function requireRoom(body: JobBody, except?: string): Promise<void> {
    if (except === undefined && (await jobs.count()) >= MAX_JOBS)
      throw new OpenClawError("cron.too-many", `there are ${MAX_JOBS} jobs already`, { hint: "openclaw cron rm <id>" });
    const now = clock.now();
    if (!body.enabled || !isFrequent(body.schedule, now)) return;
    const others = (await jobs.list()).filter((job) => job.id !== except && bodyOf(job).enabled);
    const frequent = others.filter((job) => mayBeFrequent(bodyOf(job)) && isFrequent(bodyOf(job).schedule, now));
    if (frequent.length < MAX_FREQUENT) return;
    throw new OpenClawError("cron.too-many", `${MAX_FREQUENT} jobs already run more than once a minute`, {
      hint: "let it run less often, or remove others: openclaw cron list",
    });
  }

  async function moveTo(record: JobRecord, body: JobBody): Promise<JobRecord> {
    const now = clock.now();
    const before = bodyOf(record);
    const isMoved = JSON.stringify([before.schedule, before.enabled]) !== JSON.stringify([body.schedule, body.enabled]);
    if (isMoved)
      await jobs.claim(record.id, (job) =>
        givenUp(job, body.enabled ? "its schedule was changed" : "the job was disabled"),
      );
    const next = body.enabled ? nextFire(body.schedule, now - (body.schedule.kind === "at" ? DAY_MS : 0)) : undefined;
    const moved = await jobs.update(record.id, ({ nextAt, ...job }) => {
      const at = isMoved ? next : nextAt;
      return { ...job, ...(at === undefined ? {} : { nextAt: at }), body, updatedAt: now };
    });
    if (moved === undefined) throw unknownJob(record.id);
    return moved;
  }

  /** A slot that is due and was not begun is written down before its job changes under it. */
  function givenUp(job: JobRecord, why: string): { job: JobRecord; rows: readonly SlotRecord[] } | undefined {
    const now = clock.now();
    if (job.nextAt === undefined || job.nextAt > now) return undefined;
    const plan = planSkip(job, now, why);
    return { job: plan.job, rows: plan.passed };
  }

  function tell(record: JobRecord, action: "added" | "updated"): void {
    deps.emit({ jobId: record.id, action, ...(record.nextAt === undefined ? {} : { nextRunAtMs: record.nextAt }) });
    scheduler.kick();
  }
}

/** Cheap to ask of thousands: five fields name minutes, and those are never closer than one. */
function mayBeFrequent({ schedule }: JobBody): boolean {
  if (schedule.kind === "every") return schedule.everyMs < 60_000;
  return schedule.kind === "cron" && schedule.expr.split(" ").length > 5;
}
