// `openclaw cron edit`: changes the given settings of a job.
import { systemClock } from "../../base/clock.ts";
import { defineCommand, UsageError } from "../command.ts";
import { jobFields, jobOptions } from "../cron-job.ts";
import { callCron, jobLine } from "../cron-wire.ts";
import { oneLine, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

const path = ["cron", "edit"];

export const command = defineCommand({
  arguments: [{ name: "id", description: "The job." }],
  options: {
    ...wireOptions,
    ...jobOptions,
    enable: { type: "boolean", description: "Enable the job." },
    disable: { type: "boolean", description: "Disable the job." },
    "clear-agent": { type: "boolean", description: "Run it as the default agent." },
  },
  examples: [{ line: "cron edit 6f1c0b7e-… --every 2h --name pulse", does: "another interval and name" }],
  async run(io, { options, arguments: [id = ""] }) {
    const { enable = false, disable = false, "clear-agent": isCleared = false, ...flags } = options;
    if (enable && disable) throw new UsageError("--enable and --disable exclude each other", path);
    if (isCleared && flags.agent !== undefined)
      throw new UsageError("--agent and --clear-agent exclude each other", path);
    const patch = {
      ...jobFields(flags, path),
      ...(enable ? { enabled: true } : {}),
      ...(disable ? { enabled: false } : {}),
      ...(isCleared ? { agentId: null } : {}),
    };
    if (Object.keys(patch).length === 0) throw new UsageError("nothing to change: give at least one setting", path);
    const job = await callCron(io, flags, "cron.update", { id, patch });
    io.print(io.json ? toJson(job) : oneLine(jobLine(job, systemClock.now())));
    return 0;
  },
});
