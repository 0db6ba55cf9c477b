// Claims slots: stores the row of a slot and moves its job to the next one, in one durable step.
import { newId } from "../base/ids.ts";
import type { JobRecord, SlotRecord } from "../store/store.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { CronDeps } from "./deps.ts";
import { bodyOf } from "./job.ts";
import { planSkip, planSlot, type Gap, type SlotPlan } from "./misfire.ts";
import { agentOf } from "./perform.ts";
import { switchedOff } from "./settle.ts";

export interface Claimed {
  readonly job: JobRecord;
  /** Claimed by this process only. */
  readonly slot: SlotRecord;
}

export interface Claims {
  /** Claims the slot of a due job. `moved`: the job advanced, also when there is nothing to run. */
  due(
    job: JobRecord,
    now: number,
    gaps?: readonly Gap[],
  ): Promise<{ readonly claimed?: Claimed; readonly moved: boolean }>;
  /** Claims a run outside the schedule, with `due` the slot that is due. Undefined when there is nothing to run. */
  byHand(id: string, mode: "force" | "due", now: number): Promise<Claimed | undefined>;
  /** Stores due slots without running them. True when there were any. */
  skip(id: string, why: string): Promise<boolean>;
}

const BY_HAND = "run-";

export const isByHand = ({ slot }: Pick<SlotRecord, "slot">): boolean => slot.startsWith(BY_HAND);

export function createClaims(
  { store: { jobs }, clock, config }: Pick<CronDeps, "store" | "clock" | "config">,
  watch: Pick<ClockWatch, "notice" | "jumps">,
): Claims {
  return {
    async due(job, now, gaps) {
      const row = newRow(job, now);
      let plan: SlotPlan | undefined;
      const rows = await jobs.claim(job.id, (current) => {
        if (current.nextAt === undefined || current.nextAt > now) return undefined;
        plan = planSlot(current, now, gaps);
        return claimOf(plan, row);
      });
      const slot = rows.find(({ state }) => state === "running");
      if (slot === undefined || plan === undefined) return { moved: plan !== undefined };
      return { claimed: { job: plan.job, slot }, moved: true };
    },
    async byHand(id, mode, now) {
      const found = await jobs.get(id);
      if (found === undefined) return undefined;
      const row = newRow(found, now);
      let job = found;
      const rows = await jobs.claim(id, (current) => {
        const plan = mode === "due" && (current.nextAt ?? Infinity) <= now ? planSlot(current, now) : undefined;
        job = plan?.job ?? current;
        const own = { ...row, slot: `${BY_HAND}${newId()}`, at: now, why: "by hand" };
        return plan === undefined ? { job: current, rows: [own] } : claimOf(plan, row);
      });
      const slot = rows.find(({ state }) => state === "running");
      return slot === undefined ? undefined : { job, slot };
    },
    async skip(id, why) {
      await watch.notice();
      const now = clock.now();
      const rows = await jobs.claim(id, (job) => {
        if (job.nextAt === undefined || job.nextAt > now) return undefined;
        const { passed, job: moved } = planSkip(job, now, why, watch.jumps());
        return { job: moved, rows: passed };
      });
      return rows.length > 0;
    },
  };

  function newRow(job: JobRecord, now: number): Omit<SlotRecord, "slot" | "at" | "why"> {
    const runId = newId();
    const agent = agentOf(bodyOf(job), config());
    const isMain = bodyOf(job).sessionTarget === "main";
    return {
      jobId: job.id,
      state: "running",
      startedAt: now,
      runId: `cron:${runId}`,
      ...(isMain ? {} : { sessionKey: `agent:${agent}:cron:${job.id}:run:${runId}` }),
    };
  }
}

function claimOf(
  { run, passed, job }: SlotPlan,
  row: Omit<SlotRecord, "slot" | "at" | "why">,
): { readonly job: JobRecord; readonly rows: readonly SlotRecord[] } {
  // A one-shot whose only slot is skipped has no next one.
  if (run === undefined) return { job: bodyOf(job).schedule.kind === "at" ? switchedOff(job) : job, rows: passed };
  const { slot, at, isLate } = run;
  return { job, rows: [...passed, { ...row, slot, at, why: isLate ? "late" : "due" }] };
}
