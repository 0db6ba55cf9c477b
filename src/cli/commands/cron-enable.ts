// `openclaw cron enable`: a job that waits runs again.
import { systemClock } from "../../base/clock.ts";
import { defineCommand } from "../command.ts";
import { callCron, jobLine } from "../cron-wire.ts";
import { oneLine, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  arguments: [{ name: "id", description: "The job." }],
  options: wireOptions,
  examples: [{ line: "cron enable 6f1c0b7e-…", does: "it runs from now on" }],
  async run(io, { options, arguments: [id = ""] }) {
    const job = await callCron(io, options, "cron.update", { id, patch: { enabled: true } });
    io.print(io.json ? toJson(job) : oneLine(jobLine(job, systemClock.now())));
    return 0;
  },
});
