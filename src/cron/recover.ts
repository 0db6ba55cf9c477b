// Closes runs that a dead process left open; continues only those that had not begun or can be followed.
import type { SessionKey } from "../core/names.ts";
import type { JobRecord, SlotEnd, SlotRecord } from "../store/store.ts";
import type { CronDeps } from "./deps.ts";
import { bodyOf } from "./job.ts";
import { NOTE_POSTED } from "./perform.ts";
import type { Scheduler } from "./scheduler.ts";
import { settled } from "./settle.ts";
import { isByHand } from "./slots.ts";

const CUT_OFF = "the gateway stopped during the run; its progress is unknown";

/** Resolves with runs whose end could not be stored (a full disk), to be tried again. */
export async function recoverRuns(
  deps: CronDeps,
  scheduler: Pick<Scheduler, "resume">,
  rows?: readonly SlotRecord[],
): Promise<readonly SlotRecord[]> {
  const left: SlotRecord[] = [];
  for (const slot of rows ?? (await deps.store.slots.running())) {
    try {
      const job = await deps.store.jobs.get(slot.jobId);
      const end = await endOf(deps, job, slot);
      if (end === undefined && job !== undefined) scheduler.resume(job, slot);
      else await close(deps, slot, end ?? { state: "unknown", why: CUT_OFF });
    } catch (error) {
      deps.log.error("the end of an interrupted run could not be stored; trying again", {
        error,
        slot: slot.slot,
      });
      left.push(slot);
    }
  }
  return left;
}

/** Undefined when it can continue. A turn begins once, however often its run id is posted. */
async function endOf(
  deps: CronDeps,
  job: JobRecord | undefined,
  slot: SlotRecord,
): Promise<Pick<SlotEnd, "state" | "why" | "error"> | undefined> {
  if (job === undefined)
    return { state: "unknown", why: "the gateway stopped during the run, and the job no longer exists" };
  const body = bodyOf(job);
  if (body.payload.kind === "agentTurn") return undefined;
  if (body.payload.kind === "systemEvent") {
    // The note and this mark were stored in one step: without the mark the note was not posted.
    return slot.summary === NOTE_POSTED ? { state: "ran", why: "posted just before the gateway stopped" } : undefined;
  }
  // Effects are in the journal before they happen, so a session without an entry there did nothing.
  const [call] = await deps.store.journal.list({ sessionKey: slot.sessionKey as SessionKey, limit: 1 });
  if (call === undefined) return undefined;
  if (call.outcome === "ok")
    return { state: "ran", why: "finished just before the gateway stopped; its output is lost" };
  if (call.outcome === "refused" || call.outcome === "error")
    return { state: "failed", error: (call.error as { message?: string } | undefined)?.message ?? "it failed" };
  return { state: "unknown", why: CUT_OFF };
}

async function close(deps: CronDeps, slot: SlotRecord, end: Pick<SlotEnd, "state" | "why" | "error">): Promise<void> {
  const now = deps.clock.now();
  const startedAt = slot.startedAt ?? slot.at;
  const byHand = isByHand(slot);
  const state = end.state as "ran" | "failed" | "unknown";
  deps.log.warn(`cron: a run was interrupted when the gateway last stopped: ${end.state}`, {
    jobId: slot.jobId,
    slot: slot.slot,
  });
  await deps.store.jobs.finish(slot, { ...end, endedAt: now }, (job) =>
    settled(job, { end: { ...end, state }, startedAt, now, byHand }),
  );
}
