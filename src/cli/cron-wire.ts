// Jobs as the gateway shows them, and one call about them.
import { OpenClawError } from "../core/error.ts";
import { withGateway } from "./client.ts";
import type { Io } from "./io.ts";
import { span } from "./print.ts";
import { requireConfigUnless } from "./settings.ts";
import { targetOf, type WireFlags } from "./target.ts";

export interface ShownJob {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly agentId?: string;
  readonly enabled: boolean;
  readonly schedule:
    | { readonly kind: "at"; readonly at: string }
    | { readonly kind: "every"; readonly everyMs: number }
    | { readonly kind: "cron"; readonly expr: string; readonly tz?: string };
  readonly sessionTarget: string;
  readonly payload: { readonly kind: string };
  readonly state: {
    readonly nextRunAtMs?: number;
    readonly runningAtMs?: number;
    readonly lastStatus?: string;
    readonly lastError?: string;
  };
}

export async function callCron(io: Io, flags: WireFlags, method: string, params: unknown): Promise<unknown> {
  await requireConfigUnless(flags.url !== undefined, io);
  return withGateway(io, await targetOf(io, flags), (client) => client.call(method, params));
}

export function unknownJob(id: string): OpenClawError {
  return new OpenClawError("cron.unknown-job", `unknown cron job id: ${id}`, { hint: "openclaw cron list --all" });
}

export function scheduleText({ schedule }: Pick<ShownJob, "schedule">): string {
  if (schedule.kind === "at") return `at ${schedule.at}`;
  if (schedule.kind === "every") return `every ${span(schedule.everyMs)}`;
  return `cron ${schedule.expr}${schedule.tz === undefined ? "" : ` (${schedule.tz})`}`;
}

export function nextText({ enabled, state }: Pick<ShownJob, "enabled" | "state">, now: number): string {
  if (state.runningAtMs !== undefined) return "running";
  if (!enabled) return "disabled";
  if (state.nextRunAtMs === undefined) return "-";
  return state.nextRunAtMs <= now ? "due" : `in ${span(state.nextRunAtMs - now)}`;
}

/** One line that says what was done. */
export function jobLine(job: ShownJob, now: number): string {
  return `${job.id}  ${job.name}: ${scheduleText(job)}, ${nextText(job, now)}`;
}
