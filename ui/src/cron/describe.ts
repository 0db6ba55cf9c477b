// Describes jobs and their runs for people.
import { visible } from "../../../src/core/visible.ts";
import type { CronJob, CronRunEntry, CronSchedule } from "../../../src/protocol/methods/cron.ts";
import { formatCount, formatDate, formatDuration } from "../format.ts";

export function describeSchedule(schedule: CronSchedule): string {
  if (schedule.kind === "at") return `once, ${formatDate(Date.parse(schedule.at))}`;
  if (schedule.kind === "every") return `every ${formatDuration(schedule.everyMs)}`;
  return `${visible(schedule.expr, 120)}${schedule.tz === undefined ? "" : ` (${visible(schedule.tz, 60)})`}`;
}

export function describeNextRun({ enabled, state }: Pick<CronJob, "enabled" | "state">, nowMs: number): string {
  if (state.runningAtMs !== undefined) return "running now";
  if (!enabled) return "disabled";
  if (state.nextRunAtMs === undefined) return "no more runs";
  return state.nextRunAtMs <= nowMs ? "due" : `in ${formatDuration(state.nextRunAtMs - nowMs)}`;
}

/** What the job does, and the text it does it with. */
export function describePayload({ payload }: Pick<CronJob, "payload">): {
  readonly what: string;
  readonly text: string;
} {
  const kind: string = payload.kind;
  switch (payload.kind) {
    case "systemEvent":
      return { what: "post a note to the main session", text: textIn(payload.text) };
    case "agentTurn":
      return { what: "ask the agent", text: textIn(payload.message) };
    case "exec":
      return { what: "run a command, without a model", text: textIn(payload.command) };
    case "tool":
      return {
        what: `run the tool ${textIn(payload.tool)}, without a model`,
        text: JSON.stringify(payload.args),
      };
    default:
      return { what: visible(kind, 60), text: "" };
  }
}

export function describeDelivery({ delivery, sessionTarget }: Pick<CronJob, "delivery" | "sessionTarget">): string {
  if (sessionTarget === "main") return "the main session replies";
  if (delivery === undefined || delivery.mode === "none") return "kept in the history only";
  const place = [delivery.channel, delivery.to].filter((part) => part !== undefined).map((part) => visible(part, 80));
  return place.length === 0 ? "announced in your last active chat" : `announced on ${place.join(" to ")}`;
}

/** Why a slot was skipped, and how many missed slots the run covers. */
export function describeRun({ why, missed }: Pick<CronRunEntry, "why" | "missed">): string {
  const stands = missed === undefined || missed === 0 ? [] : [`covers ${formatCount(missed, "missed run")}`];
  return [...(why === undefined ? [] : [visible(why, 200)]), ...stands].join(", ");
}

/** The time zone of the schedule, in which its times are shown. */
export function timeZoneOf({ schedule }: Pick<CronJob, "schedule">): string | undefined {
  return schedule.kind === "cron" ? schedule.tz : undefined;
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");
