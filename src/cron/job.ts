// A job as it is stored and as the wire shows it.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { WakeMode } from "../session/wake.ts";
import type { JobRecord } from "../store/store.ts";
import type {
  CronDelivery as JobDelivery,
  CronMisfire as Misfire,
  CronPayload as Payload,
  CronSchedule as Schedule,
} from "../protocol/methods/cron.ts";

export type { JobDelivery, Misfire, Payload, Schedule };

/** The requested definition. */
export interface JobBody {
  readonly name: string;
  readonly description?: string;
  readonly agentId?: AgentId;
  readonly enabled: boolean;
  readonly deleteAfterRun?: boolean;
  readonly schedule: Schedule;
  readonly sessionTarget: "main" | "isolated";
  /** The session it was created in, which gets its note or result; default: the main session of its agent. */
  readonly sessionKey?: SessionKey;
  readonly wakeMode: WakeMode;
  readonly payload: Payload;
  readonly delivery?: JobDelivery;
  readonly misfire?: Misfire;
}

/** What its runs changed. */
export interface JobState {
  readonly lastRunAtMs?: number;
  readonly lastStatus?: "ok" | "error" | "skipped";
  readonly lastError?: string;
  readonly lastDurationMs?: number;
  readonly consecutiveErrors?: number;
  /** The first slot that a back-off skips. */
  readonly passedFromMs?: number;
  /** How often the clock was set back, and until when times repeat: those are separate slots. */
  readonly laps?: number;
  readonly repeatsUntilMs?: number;
}

export interface Job extends JobBody {
  readonly id: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly state: Omit<JobState, "passedFromMs" | "laps" | "repeatsUntilMs"> & {
    readonly nextRunAtMs?: number;
    readonly runningAtMs?: number;
  };
}

export const bodyOf = (record: JobRecord): JobBody => record.body as JobBody;
export const stateOf = (record: JobRecord): JobState => record.state as JobState;

/** In the recorded order, so that two listings of one job are the same text. */
export function toJob(record: JobRecord, runningAtMs?: number): Job {
  const { agentId, name, description, enabled, deleteAfterRun, ...rest } = bodyOf(record);
  const { passedFromMs: _passed, laps: _laps, repeatsUntilMs: _repeats, ...state } = stateOf(record);
  return {
    id: record.id,
    ...(agentId === undefined ? {} : { agentId }),
    name,
    ...(description === undefined ? {} : { description }),
    enabled,
    ...(deleteAfterRun === undefined ? {} : { deleteAfterRun }),
    createdAtMs: record.createdAt,
    updatedAtMs: record.updatedAt,
    ...rest,
    state: {
      ...(record.nextAt === undefined ? {} : { nextRunAtMs: record.nextAt }),
      ...(runningAtMs === undefined ? {} : { runningAtMs }),
      ...state,
    },
  };
}

/** A one-shot is removed after a successful run, unless the job says otherwise. */
export function isRemovedAfterRun({ schedule, deleteAfterRun }: JobBody): boolean {
  return deleteAfterRun ?? schedule.kind === "at";
}
