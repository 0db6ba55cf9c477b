// A row of a slot as clients read it.
import type { SlotRecord } from "../store/store.ts";
import type { Schedule } from "./job.ts";
import { nextFire } from "./schedule.ts";

/** As recorded, with ours beside: the slot, its state and why. */
export interface RunEntry {
  readonly ts: number;
  readonly jobId: string;
  readonly action: "finished";
  readonly status: "ok" | "error" | "skipped";
  readonly state: SlotRecord["state"];
  readonly slot: string;
  readonly why?: string;
  readonly missed?: number;
  readonly error?: string;
  readonly summary: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
  readonly runAtMs: number;
  readonly durationMs: number;
  /** When its schedule, as it stands now, comes next after that run. */
  readonly nextRunAtMs?: number;
}

/** Without a schedule: the job is gone. */
export function toEntry(slot: SlotRecord, schedule?: Schedule): RunEntry {
  const { startedAt = slot.at, endedAt = slot.at, why, error, summary = "", sessionId, sessionKey, missed } = slot;
  const status =
    slot.state === "ran" ? "ok" : slot.state === "failed" || slot.state === "unknown" ? "error" : "skipped";
  const next = schedule === undefined ? undefined : nextFire(schedule, endedAt);
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
    ...(next === undefined ? {} : { nextRunAtMs: next }),
  };
}
