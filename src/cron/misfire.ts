// What a due job does now: which slot runs, which are only recorded, and when it is due next. Pure.
import type { JobRecord, SlotRecord } from "../store/store.ts";
import { bodyOf, stateOf, type Misfire, type Schedule } from "./job.ts";
import { firesFrom, lastFire, nextFire } from "./schedule.ts";

/** Up to this delay a slot counts as on time, because timers are late and gateways restart. */
const IN_TIME_MS = 60_000;
/** Missed slots that get a row each; further ones share one. */
const MAX_ROWS = 100;

export interface SlotPlan {
  /** Ended rows, oldest first. */
  readonly passed: readonly SlotRecord[];
  /** The slot to start now, if any. */
  readonly run: { readonly slot: string; readonly at: number; readonly isLate: boolean } | undefined;
  readonly job: JobRecord;
}

/** A period in which slots could not start, with its reason. */
export interface Gap {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly why: string;
}

/** A time that repeats after the clock was set back is a separate slot. */
export function slotKey(job: JobRecord, at: number): string {
  const { laps = 0, repeatsUntilMs = -Infinity } = stateOf(job);
  return String(at < repeatsUntilMs ? at + laps : at);
}

/** Moves the next time of a job to before repeated times. A back-off keeps its length. */
export function setBack(job: JobRecord, now: number, backMs: number): JobRecord {
  const { schedule } = bodyOf(job);
  const { passedFromMs, laps = 0, repeatsUntilMs = -Infinity, ...rest } = stateOf(job);
  const waited = job.nextAt ?? now;
  const pauseMs = passedFromMs === undefined ? 0 : Math.max(0, waited - backMs - now);
  const first = nextFire(schedule, now) ?? waited;
  const next = pauseMs === 0 ? first : (nextFire(schedule, now + pauseMs - 1) ?? first);
  const state = {
    ...rest,
    laps: laps + 1,
    repeatsUntilMs: Math.max(repeatsUntilMs, waited),
    ...(next > first ? { passedFromMs: first } : {}),
  };
  return { ...job, nextAt: next, state };
}

/** For a job that is due. */
export function planSlot(job: JobRecord, now: number, gaps: readonly Gap[] = []): SlotPlan {
  const { schedule, misfire = "once" } = bodyOf(job);
  const due = job.nextAt ?? now;
  const latest = lastFire(schedule, due, now) ?? due;
  const backedOff = passedOver(job, due);
  const earlier = partsOf(due, latest, gaps).flatMap((part) => rowsIn(job, due, part, "missed"));
  const lateMs = now - latest;
  const runs = runsLate(misfire, lateMs);
  const own: SlotRecord = {
    jobId: job.id,
    slot: slotKey(job, latest),
    at: latest,
    state: "missed",
    why: [
      `${Math.round(lateMs / 1000)} s late`,
      ...gaps.filter((gap) => gap.fromMs <= latest && latest < gap.untilMs).map(({ why }) => why),
      `the rule of this job is ${misfire === "skip" ? "skip" : "a window"}`,
    ].join("; "),
    endedAt: now,
  };
  return {
    passed: [...backedOff, ...earlier, ...(runs ? [] : [own])].map((row) => ({ ...row, endedAt: now })),
    run: runs ? { slot: slotKey(job, latest), at: latest, isLate: lateMs > IN_TIME_MS || latest > due } : undefined,
    job: movedOn(job, now),
  };
}

/** Records slots that must not start, with the reason. Slots that the clock jumped over are missed for that reason. */
export function planSkip(job: JobRecord, now: number, why: string, jumps: readonly Gap[] = []): SlotPlan {
  const due = job.nextAt ?? now;
  const skipped = partsOf(due, now + 1, jumps, why).flatMap((part) =>
    rowsIn(job, due, part, part.why === why ? "skipped" : "missed"),
  );
  const rows = [...passedOver(job, due), ...skipped];
  return { passed: rows.map((row) => ({ ...row, endedAt: now })), run: undefined, job: movedOn(job, now) };
}

function runsLate(misfire: Misfire, lateMs: number): boolean {
  if (misfire === "once") return true;
  return lateMs <= (misfire === "skip" ? IN_TIME_MS : misfire.windowMs);
}

function movedOn(job: JobRecord, now: number): JobRecord {
  const { nextAt: _due, ...rest } = job;
  const next = nextFire(bodyOf(job).schedule, now);
  const { passedFromMs: _passed, repeatsUntilMs, ...state } = stateOf(job);
  const repeats = repeatsUntilMs === undefined || (next ?? Infinity) >= repeatsUntilMs ? {} : { repeatsUntilMs };
  return { ...rest, state: { ...state, ...repeats }, ...(next === undefined ? {} : { nextAt: next }) };
}

/** Slots that a back-off skipped. */
function passedOver(job: JobRecord, due: number): SlotRecord[] {
  const { passedFromMs, consecutiveErrors = 0 } = stateOf(job);
  if (passedFromMs === undefined || passedFromMs >= due) return [];
  const why = `waiting after ${consecutiveErrors} ${consecutiveErrors === 1 ? "error" : "errors"} in a row`;
  return rowsFor(job, passedFromMs, due, "skipped", why);
}

/** Splits the period into parts that each have one reason for missed slots. */
function partsOf(
  fromMs: number,
  untilMs: number,
  gaps: readonly Gap[],
  otherwise = "the gateway was not running",
): readonly Gap[] {
  const cuts = gaps.flatMap((gap) => [gap.fromMs, gap.untilMs]).filter((cut) => cut > fromMs && cut < untilMs);
  const starts = [...new Set([fromMs, ...cuts])].sort((a, b) => a - b);
  return starts.map((start, at) => {
    const gap = gaps.find((one) => one.fromMs <= start && start < one.untilMs);
    return { fromMs: start, untilMs: starts[at + 1] ?? untilMs, why: gap?.why ?? otherwise };
  });
}

/** A part may start between two slots. */
function rowsIn(job: JobRecord, due: number, { fromMs, untilMs, why }: Gap, state: "missed" | "skipped"): SlotRecord[] {
  const first = fromMs === due ? due : (nextFire(bodyOf(job).schedule, fromMs - 1) ?? untilMs);
  return rowsFor(job, first, untilMs, state, why);
}

function rowsFor(
  job: JobRecord,
  fromMs: number,
  untilMs: number,
  state: "missed" | "skipped",
  why: string,
): SlotRecord[] {
  if (fromMs >= untilMs) return [];
  const { schedule } = bodyOf(job);
  const jobId = job.id;
  const fires = firesFrom(schedule, fromMs, untilMs, MAX_ROWS + 1);
  const [firstMs = fromMs] = fires;
  if (fires.length <= MAX_ROWS) return fires.map((at) => ({ jobId, slot: slotKey(job, at), at, state, why }));
  const last = lastFire(schedule, fromMs, untilMs - 1) ?? fromMs;
  const missed = countOf(schedule, firstMs, last);
  const words = missed === undefined ? `more than ${MAX_ROWS} slots` : `${missed} slots`;
  const row = {
    jobId,
    slot: `${slotKey(job, firstMs)}..${slotKey(job, last)}`,
    at: last,
    state,
    why: `${words}: ${why}`,
  };
  return [missed === undefined ? row : { ...row, missed }];
}

/** Limits how many fires of an expression are counted. */
function countOf(schedule: Schedule, fromMs: number, lastMs: number): number | undefined {
  if (schedule.kind === "every") return Math.round((lastMs - fromMs) / schedule.everyMs) + 1;
  const fires = firesFrom(schedule, fromMs, lastMs + 1, MAX_COUNTED);
  return fires.length < MAX_COUNTED ? fires.length : undefined;
}

const MAX_COUNTED = 1_000;
