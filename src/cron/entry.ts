// A slot as clients read it.
import type { SlotRecord } from "../store/store.ts";
import type { JobBody } from "./job.ts";
import { nextFire } from "./schedule.ts";
import type { CronRunEntry as RunEntry } from "../protocol/methods/cron.ts";

export type { RunEntry };

/** The job is undefined when it was deleted. */
export function toEntry(slot: SlotRecord, job?: JobBody): RunEntry {
  const { startedAt = slot.at, endedAt = slot.at, why, error, summary = "", sessionId, sessionKey, missed } = slot;
  const status =
    slot.state === "ran" ? "ok" : slot.state === "failed" || slot.state === "unknown" ? "error" : "skipped";
  const next = job === undefined ? undefined : nextFire(job.schedule, endedAt);
  const deliversTo = job === undefined ? undefined : targetOf(job);
  return {
    ts: endedAt,
    jobId: slot.jobId,
    action: "finished",
    status,
    state: slot.state,
    slot: slot.slot,
    ...(why === undefined ? {} : { why }),
    ...(missed === undefined ? {} : { missed }),
    ...(error === undefined ? {} : { error }),
    summary,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
    runAtMs: slot.startedAt === undefined ? slot.at : startedAt,
    durationMs: slot.startedAt === undefined ? 0 : Math.max(0, endedAt - startedAt),
    ...(deliversTo === undefined ? {} : { deliversTo }),
    ...(next === undefined ? {} : { nextRunAtMs: next }),
  };
}

function targetOf({ delivery, sessionKey, sessionTarget }: JobBody): string | undefined {
  if (sessionTarget === "isolated" && delivery?.mode === "none") return "none";
  const { channel = "last", to } = delivery ?? {};
  if (channel !== "last") return to === undefined ? channel : `${channel} ${to}`;
  return sessionKey;
}
