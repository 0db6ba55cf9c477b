// What the end of a run means for its job: removed, disabled, backed off, or moved to its next slot. Pure.
import type { JobRecord } from "../store/store.ts";
import { bodyOf, isRemovedAfterRun, stateOf, type JobState } from "./job.ts";
import type { RunEnd } from "./perform.ts";
import { nextFire } from "./schedule.ts";

const BACKOFF_MS: readonly number[] = [30_000, 60_000, 300_000, 900_000, 3_600_000];

export interface Ended {
  readonly end: Pick<RunEnd, "state" | "why" | "error">;
  readonly startedAt: number;
  readonly now: number;
  /** Started by hand: a one-shot that is still in the future stays. */
  readonly byHand: boolean;
}

export function settled(job: JobRecord, ended: Ended): JobRecord | "delete" {
  const body = bodyOf(job);
  const next = { ...job, state: stateAfter(job, ended) };
  if (body.schedule.kind === "at") {
    if (ended.byHand && job.nextAt !== undefined) return next;
    if (ended.end.state === "ran" && isRemovedAfterRun(body)) return "delete";
    return switchedOff(next);
  }
  if (ended.byHand || ended.end.state !== "failed") return next;
  return backOff(next, ended.now);
}

export function switchedOff(job: JobRecord): JobRecord {
  const { nextAt: _none, ...rest } = job;
  return { ...rest, body: { ...bodyOf(job), enabled: false } };
}

export function statusOf({ state }: Pick<RunEnd, "state">): "ok" | "error" | "skipped" {
  if (state === "ran") return "ok";
  return state === "skipped" ? "skipped" : "error";
}

function stateAfter(job: JobRecord, { end, startedAt, now }: Ended): JobState {
  const { lastError: _error, consecutiveErrors = 0, ...before } = stateOf(job);
  const error = end.error ?? (end.state === "ran" ? undefined : end.why);
  // An interrupted run says nothing about the job.
  const errors = end.state === "failed" ? consecutiveErrors + 1 : end.state === "ran" ? 0 : consecutiveErrors;
  return {
    ...before,
    lastRunAtMs: startedAt,
    lastStatus: statusOf(end),
    lastDurationMs: Math.max(0, now - startedAt),
    ...(error === undefined ? {} : { lastError: error.slice(0, 2000).toWellFormed() }),
    ...(errors === 0 ? {} : { consecutiveErrors: errors }),
  };
}

/** Never earlier than the schedule; the slots in between get rows when they are due. */
function backOff(job: JobRecord, now: number): JobRecord {
  const { consecutiveErrors = 1 } = stateOf(job);
  const until = now + (BACKOFF_MS[Math.min(consecutiveErrors, BACKOFF_MS.length) - 1] ?? 0);
  if (job.nextAt === undefined || job.nextAt >= until) return job;
  const later = nextFire(bodyOf(job).schedule, until - 1);
  const state = { ...stateOf(job), passedFromMs: job.nextAt };
  const { nextAt: _early, ...rest } = job;
  return { ...rest, state, ...(later === undefined ? {} : { nextAt: later }) };
}
