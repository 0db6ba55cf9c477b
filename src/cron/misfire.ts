// What a due job does now: which of its slots runs, which are only written down, and when it is due next. Pure.
import type { JobRecord, SlotRecord } from "../store/store.ts";
import { bodyOf, stateOf, type Misfire, type Schedule } from "./job.ts";
import { firesFrom, lastFire, nextFire } from "./schedule.ts";

/** Timers are late, machines are busy, gateways restart: up to here a slot is in time. */
const IN_TIME_MS = 60_000;
/** Passed slots that get a row each; more share one. */
const MAX_ROWS = 100;

export interface Plan {
  /** Ended rows, oldest first. */
  readonly passed: readonly SlotRecord[];
  /** The slot to begin now, if any. */
  readonly run: { readonly at: number; readonly isLate: boolean } | undefined;
  readonly job: JobRecord;
}

/** Since when every place to run in was taken, without a break. */
export interface Crowd {
  readonly sinceMs: number;
  readonly why: string;
}

/** For a job whose `nextAt` has come. */
export function planSlot(job: JobRecord, now: number, crowd?: Crowd): Plan {
  const { schedule, misfire = "once" } = bodyOf(job);
  const due = job.nextAt ?? now;
  const latest = lastFire(schedule, due, now) ?? due;
  const backedOff = passedOver(job, due);
  const crowdedMs = Math.max(due, Math.min(crowd?.sinceMs ?? latest, latest));
  const earlier = [
    ...rowsFor(job.id, schedule, due, crowdedMs, "missed", "nobody was there to run it"),
    ...rowsFor(job.id, schedule, crowdedMs, latest, "missed", crowd?.why ?? ""),
  ];
  const lateMs = now - latest;
  const runs = isMadeUp(misfire, lateMs);
  const own: SlotRecord = {
    jobId: job.id,
    slot: String(latest),
    at: latest,
    state: "missed",
    why: `${Math.round(lateMs / 1000)} s late; the rule of this job is ${misfire === "skip" ? "skip" : "a window"}`,
    endedAt: now,
  };
  return {
    passed: [...backedOff, ...earlier, ...(runs ? [] : [own])].map((row) => ({ ...row, endedAt: now })),
    run: runs ? { at: latest, isLate: lateMs > IN_TIME_MS || latest > due } : undefined,
    job: movedOn(job, now),
  };
}

/** Slots that came while nothing may begin: each is written down with its reason. */
export function planSkip(job: JobRecord, now: number, why: string): Plan {
  const { schedule } = bodyOf(job);
  const due = job.nextAt ?? now;
  const rows = [...passedOver(job, due), ...rowsFor(job.id, schedule, due, now + 1, "skipped", why)];
  return { passed: rows.map((row) => ({ ...row, endedAt: now })), run: undefined, job: movedOn(job, now) };
}

function isMadeUp(misfire: Misfire, lateMs: number): boolean {
  if (misfire === "once") return true;
  return lateMs <= (misfire === "skip" ? IN_TIME_MS : misfire.windowMs);
}

function movedOn(job: JobRecord, now: number): JobRecord {
  const { nextAt: _due, ...rest } = job;
  const next = nextFire(bodyOf(job).schedule, now);
  const { passedFromMs: _passed, ...state } = stateOf(job);
  return { ...rest, state, ...(next === undefined ? {} : { nextAt: next }) };
}

/** Slots a back-off went over. */
function passedOver(job: JobRecord, due: number): SlotRecord[] {
  const { passedFromMs, consecutiveErrors = 0 } = stateOf(job);
  if (passedFromMs === undefined || passedFromMs >= due) return [];
  const why = `waiting after ${consecutiveErrors} ${consecutiveErrors === 1 ? "error" : "errors"} in a row`;
  return rowsFor(job.id, bodyOf(job).schedule, passedFromMs, due, "skipped", why);
}

function rowsFor(
  jobId: string,
  schedule: Schedule,
  fromMs: number,
  untilMs: number,
  state: "missed" | "skipped",
  why: string,
): SlotRecord[] {
  if (fromMs >= untilMs) return [];
  const fires = firesFrom(schedule, fromMs, untilMs, MAX_ROWS + 1);
  const [firstMs = fromMs] = fires;
  if (fires.length <= MAX_ROWS) return fires.map((at) => ({ jobId, slot: String(at), at, state, why }));
  const last = lastFire(schedule, fromMs, untilMs - 1) ?? fromMs;
  const missed = countOf(schedule, firstMs, last);
  const words = missed === undefined ? `more than ${MAX_ROWS} slots` : `${missed} slots`;
  const row = { jobId, slot: `${firstMs}..${last}`, at: last, state, why: `${words}: ${why}` };
  return [missed === undefined ? row : { ...row, missed }];
}

/** Counting the fires of an expression one by one has to end somewhere. */
function countOf(schedule: Schedule, fromMs: number, lastMs: number): number | undefined {
  if (schedule.kind === "every") return Math.round((lastMs - fromMs) / schedule.everyMs) + 1;
  const fires = firesFrom(schedule, fromMs, lastMs + 1, MAX_COUNTED);
  return fires.length < MAX_COUNTED ? fires.length : undefined;
}

const MAX_COUNTED = 1_000;
