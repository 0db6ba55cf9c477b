// `openclaw cron next`: shows the next run times of a job or a schedule, with clock changes marked.
import { defineCommand, UsageError } from "../command.ts";
import { jobFields, jobOptions } from "../cron-job.ts";
import { callCron, runTimesText } from "../cron-wire.ts";
import { wholeNumber } from "../parse.ts";
import { toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  arguments: [{ name: "id", description: "The job; leave it out with --at, --every or --cron.", optional: true }],
  options: {
    ...wireOptions,
    at: jobOptions.at,
    every: jobOptions.every,
    cron: jobOptions.cron,
    tz: jobOptions.tz,
    count: { type: "string", value: "n", description: "Number of run times (default: 5)." },
  },
  examples: [
    { line: "cron next 6f1c0b7e-…", does: "the next five run times of that job" },
    { line: "cron next --cron '30 2 * * *' --tz Europe/Berlin --count 10", does: "the run times of a schedule" },
  ],
  async run(io, { options, arguments: [id] }) {
    const { schedule } = jobFields(options, ["cron", "next"]);
    if ((id === undefined) === (schedule === undefined))
      throw new UsageError("missing <id>, or one of --at, --every and --cron", ["cron", "next"]);
    const count = wholeNumber("count", options.count, { min: 1, max: 100 }) ?? 5;
    const request = id === undefined ? { job: { schedule } } : { id };
    const preview = await callCron(io, options, "cron.preview", { ...request, count });
    io.print(io.json ? toJson(preview) : runTimesText(preview).join("\n"));
    return 0;
  },
});
