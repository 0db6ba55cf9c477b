// What cron needs from other parts; the app wires it.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Outbound } from "../channel/outbound.ts";
import type { Config } from "../config/schema/index.ts";
import type { SystemEvents } from "../session/system-events.ts";
import type { Turns } from "../session/turns.ts";
import type { Wake } from "../session/wake.ts";
import type { Store } from "../store/store.ts";
import type { JobOutputs } from "./outputs.ts";

export interface CronDeps {
  readonly store: Pick<Store, "jobs" | "slots" | "inbox" | "journal" | "sessions" | "kv">;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: () => Config;
  readonly turns: Pick<Turns, "post" | "wait" | "abort" | "say">;
  readonly wake: Pick<Wake, "notify" | "notifyAndWait">;
  readonly events: Pick<SystemEvents, "peek">;
  readonly outbound: Outbound;
  /** The one path of every tool call, without a model. */
  readonly runTool: RunTool;
  readonly emit: (event: CronEvent) => void;
  /** Stored output of runs. */
  readonly outputs: JobOutputs;
  /** A jobs file of an older release, imported once. */
  readonly olderFile: string;
  /** `OPENCLAW_SKIP_CRON`: starts no job by schedule, whatever the config says. */
  readonly isSkipped: boolean;
}

export type RunTool = (call: ToolRun) => Promise<{ readonly text: string; readonly isError: boolean }>;

export interface ToolRun {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly agent: AgentId;
  readonly session: SessionKey;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly toolsDeny: readonly string[];
}

/** As recorded on the wire. */
export interface CronEvent {
  readonly jobId: string;
  readonly action: "added" | "updated" | "removed" | "started" | "finished";
  readonly nextRunAtMs?: number;
  readonly runAtMs?: number;
  readonly durationMs?: number;
  readonly status?: "ok" | "error" | "skipped";
  readonly error?: string;
  readonly summary?: string;
  readonly sessionId?: string;
  readonly sessionKey?: string;
}
