// `openclaw cron rm`: removes a job; its runs stay on record.
import { defineCommand } from "../command.ts";
import { callCron, unknownJob } from "../cron-wire.ts";
import { oneLine, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  arguments: [{ name: "id", description: "The job." }],
  options: wireOptions,
  examples: [{ line: "cron rm 6f1c0b7e-…", does: "its runs stay on record" }],
  async run(io, { options, arguments: [id = ""] }) {
    const answer = await callCron(io, options, "cron.remove", { id });
    if (!answer.removed && !io.json) throw unknownJob(id);
    io.print(io.json ? toJson(answer) : oneLine(`removed ${id}`));
    return 0;
  },
});
