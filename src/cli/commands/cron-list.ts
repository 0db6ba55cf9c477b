// `openclaw cron list`: lists the jobs, next due first.
import { systemClock } from "../../base/clock.ts";
import type { CronJob } from "../../protocol/methods/cron.ts";
import { defineCommand } from "../command.ts";
import { callCron, nextText, scheduleText } from "../cron-wire.ts";
import { table, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  options: { ...wireOptions, all: { type: "boolean", description: "Also list disabled jobs." } },
  examples: [
    { line: "cron list", does: "the enabled jobs" },
    { line: "cron list --all --json", does: "all fields of every job" },
  ],
  async run(io, { options: { all = false, ...flags } }) {
    const answer = await callCron(io, flags, "cron.list", { includeDisabled: all });
    if (io.json) io.print(toJson(answer));
    else if (answer.jobs.length === 0) io.print("No jobs. Add one with: openclaw cron add --help");
    else io.print(table(answer.jobs, shape(), io).join("\n"));
    return 0;
  },
});

function shape() {
  const now = systemClock.now();
  return [
    { title: "Id", text: ({ id }: CronJob) => id },
    { title: "Name", text: ({ name }: CronJob) => name },
    { title: "Schedule", text: (job: CronJob) => scheduleText(job) },
    { title: "Next", text: (job: CronJob) => nextText(job, now) },
    { title: "Last", text: ({ state }: CronJob) => state.lastStatus ?? "-" },
    { title: "Does", text: ({ payload, sessionTarget }: CronJob) => `${payload.kind} (${sessionTarget})` },
    { title: "Agent", text: ({ agentId }: CronJob) => agentId ?? "default" },
  ];
}
