// `openclaw cron enable` and `disable`: turns one job on and off.
import { systemClock } from "../../base/clock.ts";
import { defineCommand, type Command } from "../command.ts";
import { callCron, jobLine } from "../cron-wire.ts";
import { oneLine, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const enable = jobSwitch(true, [{ line: "cron enable 6f1c0b7e-…", does: "the job runs again" }]);
export const disable = jobSwitch(false, [
  { line: "cron disable 6f1c0b7e-…", does: "the job is kept but does not run" },
]);

function jobSwitch(enabled: boolean, examples: Command["examples"]): Command {
  return defineCommand({
    arguments: [{ name: "id", description: "The job." }],
    options: wireOptions,
    examples,
    async run(io, { options, arguments: [id = ""] }) {
      const job = await callCron(io, options, "cron.update", { id, patch: { enabled } });
      io.print(io.json ? toJson(job) : oneLine(jobLine(job, systemClock.now())));
      return 0;
    },
  });
}
