// Jobs as the gateway returns them, as text for people, and one call about them.
import { OpenClawError } from "../core/error.ts";
import type { MethodName, MethodParams, MethodResult } from "../protocol/method-map.ts";
import type { CronJob } from "../protocol/methods/cron.ts";
import { withGateway } from "./client.ts";
import type { Io } from "./io.ts";
import { formatDuration } from "../base/duration.ts";
import { oneLine } from "./print.ts";
import { requireConfigUnless } from "./settings.ts";
import { targetOf, type WireFlags } from "./target.ts";

export async function callCron<N extends MethodName>(
  io: Io,
  flags: WireFlags,
  method: N,
  params: MethodParams<N>,
): Promise<MethodResult<N>> {
  await requireConfigUnless(flags.url !== undefined, io);
  return withGateway(io, await targetOf(io, flags), (client) => client.call(method, params));
}

export function unknownJob(id: string): OpenClawError {
  return new OpenClawError("cron.unknown-job", `unknown cron job id: ${id}`, { hint: "openclaw cron list --all" });
}

export function scheduleText({ schedule }: Pick<CronJob, "schedule">): string {
  if (schedule.kind === "at") return `at ${schedule.at}`;
  if (schedule.kind === "every") return `every ${formatDuration(schedule.everyMs)}`;
  return `cron ${schedule.expr}${schedule.tz === undefined ? "" : ` (${schedule.tz})`}`;
}

export function nextText({ enabled, state }: Pick<CronJob, "enabled" | "state">, now: number): string {
  if (state.runningAtMs !== undefined) return "running";
  if (!enabled) return "disabled";
  if (state.nextRunAtMs === undefined) return "-";
  return state.nextRunAtMs <= now ? "due" : `in ${formatDuration(state.nextRunAtMs - now)}`;
}

/** The job on one line, after a change. */
export function jobLine(job: CronJob, now: number): string {
  return `${job.id}  ${job.name}: ${scheduleText(job)}, ${nextText(job, now)}`;
}

/** The next run times of a job or schedule, one per line. */
export function runTimesText({ tz, fires, job }: MethodResult<"cron.preview">): string[] {
  const title = oneLine(`${job === undefined ? "" : `${job.name}, `}run times in ${tz}`);
  if (fires.length === 0) return [title, "no further run"];
  return [
    title,
    ...fires.map(({ local, offset, note }) => `${local} ${offset}${note === undefined ? "" : `  ${note}`}`),
  ];
}
