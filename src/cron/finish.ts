// Stores the end of a run once, emits it, and cleans up after it.
import { setTimeout as sleep } from "node:timers/promises";

import type { CronDeps } from "./deps.ts";
import { short } from "./deliver.ts";
import { bodyOf } from "./job.ts";
import type { Run, RunEnd } from "./perform.ts";
import { keepSession } from "./sessions.ts";
import { settled, statusOf } from "./settle.ts";
import type { Claims } from "./slots.ts";

export interface Ending {
  readonly end: RunEnd;
  readonly startedAt: number;
  readonly byHand: boolean;
}

const RETRY_MS = 5_000;
const KEEP_SLOTS = 2_000;
const PRUNE_EVERY = 50;

export function createFinish(
  deps: CronDeps,
  claims: Pick<Claims, "skip">,
  closed: AbortSignal,
): (run: Run, ending: Ending) => Promise<void> {
  const { log, clock } = deps;
  const { jobs, slots } = deps.store;
  let ends = 0;

  return async (run, ending) => {
    const now = clock.now();
    await keepOutput(run, ending.end).catch((error: unknown) =>
      log.warn("the output of a job was not stored", { error }),
    );
    await persistently(() => write(run, ending, now));
    await emitEnd(run, ending, now);
    await tidy(run, ending.end).catch((error: unknown) => log.warn("cron: cleanup after a run failed", { error }));
  };

  /** A turn has its session; the row of a command has only one short line. */
  async function keepOutput({ job, slot }: Run, { text }: RunEnd): Promise<void> {
    const { kind } = bodyOf(job).payload;
    const isWhole = text.trim() === short(text);
    if ((kind === "exec" || kind === "tool") && !isWhole) await deps.outputs.write(job.id, slot.slot, text);
  }

  async function write({ job, slot }: Run, { end, startedAt, byHand }: Ending, now: number): Promise<void> {
    // Slots that became due meanwhile get their rows before the job can be due again.
    await claims.skip(job.id, "it was still running");
    const summary = short(end.text);
    const facts = {
      state: end.state,
      endedAt: now,
      ...(end.why === undefined ? {} : { why: end.why }),
      ...(end.error === undefined ? {} : { error: end.error.slice(0, 2000).toWellFormed() }),
      ...(end.sessionId === undefined ? {} : { sessionId: end.sessionId }),
      ...(summary === "" ? {} : { summary }),
    };
    await jobs.finish(slot, facts, (current) => settled(current, { end, startedAt, now, byHand }));
  }

  /** Retries, because a disk can have space again later, and a job without a stored end must not start again. */
  async function persistently(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (closed.aborted) throw error;
        log.error("the end of a job could not be stored; trying again", { error });
        await sleep(RETRY_MS, undefined, { ref: false, signal: closed });
      }
    }
  }

  async function emitEnd({ job, slot }: Run, { end, startedAt }: Ending, now: number): Promise<void> {
    if (end.state === "failed")
      log.warn(`cron: ${bodyOf(job).name} failed: ${end.error ?? ""}`, { jobId: job.id, slot: slot.slot });
    const next = (await jobs.get(job.id))?.nextAt;
    deps.emit({
      jobId: job.id,
      action: "finished",
      status: statusOf(end),
      ...(end.error === undefined ? {} : { error: end.error }),
      summary: short(end.text),
      runAtMs: startedAt,
      durationMs: Math.max(0, now - startedAt),
      ...(next === undefined ? {} : { nextRunAtMs: next }),
      ...(end.sessionId === undefined ? {} : { sessionId: end.sessionId }),
      ...(slot.sessionKey === undefined ? {} : { sessionKey: slot.sessionKey }),
    });
  }

  async function tidy(run: Run, { sessionId }: RunEnd): Promise<void> {
    if (sessionId !== undefined) await keepSession(deps, run, sessionId);
    ends += 1;
    if (ends % PRUNE_EVERY === 1) await slots.prune(run.job.id, KEEP_SLOTS);
  }
}
