// Scheduled jobs over the wire. The cron service validates jobs, so that the rules are the same for every caller.
import { Type } from "../../core/schema.ts";
import type { ThinkingLevel } from "../../core/thinking-level.ts";
import { closed, method, noParams, nonEmpty, optional, returns, uncheckedMethod } from "../method.ts";

const named = { id: optional(nonEmpty), jobId: optional(nonEmpty) };
const open = Type.Unsafe<Record<string, unknown>>({ type: "object" });

export const cronStatus = method(
  "cron.status",
  "operator.read",
  noParams,
  returns<CronStatus & { readonly storePath: string }>(),
);
export const cronList = method(
  "cron.list",
  "operator.read",
  Type.Object({ includeDisabled: optional(Type.Boolean()) }, closed),
  returns<{ readonly jobs: readonly CronJob[] }>(),
);
export const cronAdd = uncheckedMethod("cron.add", "operator.admin", returns<CronJob>());
export const cronUpdate = method(
  "cron.update",
  "operator.admin",
  Type.Object({ ...named, patch: open }, closed),
  returns<CronJob>(),
);
export const cronRemove = method(
  "cron.remove",
  "operator.admin",
  Type.Object(named, closed),
  returns<{ readonly ok: true; readonly removed: boolean }>(),
);
export const cronRun = method(
  "cron.run",
  "operator.admin",
  Type.Object({ ...named, mode: optional(Type.Union([Type.Literal("force"), Type.Literal("due")])) }, closed),
  returns<CronRunStarted>(),
);
export const cronRuns = method(
  "cron.runs",
  "operator.read",
  Type.Object(
    {
      ...named,
      limit: optional(Type.Integer({ minimum: 1, maximum: 5000 })),
      /** Ours: the output of one run instead of the rows. */
      slot: optional(nonEmpty),
      offset: optional(Type.Integer({ minimum: 0 })),
    },
    closed,
  ),
  returns<CronRuns | CronOutput>(),
);
/** Ours: the next run times of a stored or proposed job. */
export const cronPreview = method(
  "cron.preview",
  "operator.read",
  Type.Object({ ...named, job: optional(open), count: optional(Type.Integer({ minimum: 1, maximum: 100 })) }, closed),
  returns<CronPreview & { readonly schedule: CronSchedule; readonly job?: CronJob }>(),
  { announced: false },
);

export type CronSchedule =
  /** ISO 8601 in UTC. */
  | { readonly kind: "at"; readonly at: string }
  /** Every `everyMs`, counted from the anchor. */
  | { readonly kind: "every"; readonly everyMs: number; readonly anchorMs: number }
  /** Five or six fields; without a time zone that of the host. */
  | { readonly kind: "cron"; readonly expr: string; readonly tz?: string };

export type CronPayload =
  | { readonly kind: "systemEvent"; readonly text: string }
  | {
      readonly kind: "agentTurn";
      readonly message: string;
      readonly model?: string;
      readonly thinking?: ThinkingLevel;
      readonly timeoutSeconds?: number;
      /** Limits the tools that policy allows to these. */
      readonly toolsAllow?: readonly string[];
    }
  /** Runs without a model: a command or a tool under the rules of the agent; its output is the result. */
  | { readonly kind: "exec"; readonly command: string; readonly workdir?: string; readonly timeout?: number }
  | {
      readonly kind: "tool";
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly timeoutSeconds?: number;
    };

export interface CronDelivery {
  readonly mode: "announce" | "none";
  /** A channel, or `last` for the channel of the main session's last message. */
  readonly channel?: string;
  readonly to?: string;
  readonly bestEffort?: boolean;
}

/** What happens to a missed slot: run once, skip, or run if it is at most so many milliseconds late. */
export type CronMisfire = "once" | "skip" | { readonly windowMs: number };

export interface CronJob {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly agentId?: string;
  readonly enabled: boolean;
  readonly deleteAfterRun?: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly schedule: CronSchedule;
  readonly sessionTarget: "main" | "isolated";
  readonly sessionKey?: string;
  readonly wakeMode: "now" | "next-heartbeat";
  readonly payload: CronPayload;
  readonly delivery?: CronDelivery;
  readonly misfire?: CronMisfire;
  readonly state: {
    readonly nextRunAtMs?: number;
    readonly runningAtMs?: number;
    readonly lastRunAtMs?: number;
    readonly lastStatus?: CronOutcome;
    readonly lastError?: string;
    readonly lastDurationMs?: number;
    readonly consecutiveErrors?: number;
  };
}

export type CronOutcome = "ok" | "error" | "skipped";

export interface CronStatus {
  readonly enabled: boolean;
  readonly jobs: number;
  readonly nextWakeAtMs: number | null;
}

export interface CronRunStarted {
  readonly ok: true;
  readonly ran: boolean;
  readonly reason?: "not-due" | "already-running";
  readonly runId?: string;
}

export interface CronRuns {
  readonly entries: readonly CronRunEntry[];
}

/** The row of one slot: the recorded fields, with ours (`state`, `slot`, `why`, `missed`, `deliversTo`). */
export interface CronRunEntry {
  readonly ts: number;
  readonly jobId: string;
  readonly action: "finished";
  readonly status: CronOutcome;
  readonly state: string;
  readonly slot: string;
  readonly why?: string;
  readonly missed?: number;
  readonly error?: string;
  readonly summary: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
  readonly runAtMs: number;
  readonly durationMs: number;
  /** The target of the result by the current job: a session key, a channel with its target, or `none`. */
  readonly deliversTo?: string;
  /** The next run time of the current schedule after that run. */
  readonly nextRunAtMs?: number;
}

/** A page of the output of one run. */
export interface CronOutput {
  readonly slot: string;
  readonly offset: number;
  readonly totalLines: number;
  readonly text: string;
}

export interface CronPreview {
  readonly tz: string;
  readonly fires: readonly CronFire[];
}

export interface CronFire {
  readonly atMs: number;
  /** In the time zone of the job: `2026-03-29 03:00:00`. */
  readonly local: string;
  /** `+02:00`. */
  readonly offset: string;
  /** Why this time differs from the pattern, such as a change of daylight saving time. */
  readonly note?: string;
}
