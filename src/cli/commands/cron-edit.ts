// `openclaw cron edit`: changes of a job; what is not named stays.
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
    enable: { type: "boolean", description: "Run it from now on." },
    disable: { type: "boolean", description: "Keep it, but do not run it." },
    "clear-agent": { type: "boolean", description: "Leave it to the default agent." },
  },
  examples: [{ line: "cron edit 6f1c0b7e-… --every 2h --name pulse", does: "another interval and name" }],
  async run(io, { options, arguments: [id = ""] }) {
    const { enable = false, disable = false, "clear-agent": isCleared = false, ...flags } = options;
    if (enable && disable) throw new UsageError("--enable or --disable, not both", path);
    if (isCleared && flags.agent !== undefined) throw new UsageError("--agent or --clear-agent, not both", path);
    const patch = {
      ...jobFields(flags, path),
      ...(enable ? { enabled: true } : {}),
      ...(disable ? { enabled: false } : {}),
      ...(isCleared ? { agentId: null } : {}),
    };
    if (Object.keys(patch).length === 0) throw new UsageError("say what changes", path);
    const job = await callCron(io, flags, "cron.update", { id, patch });
    io.print(io.json ? toJson(job) : oneLine(jobLine(job, systemClock.now())));
    return 0;
  },
});
