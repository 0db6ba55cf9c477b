// `openclaw cron status`: shows whether the scheduler is on, how many jobs there are, and when the next is due.
import { systemClock } from "../../base/clock.ts";
import { defineCommand } from "../command.ts";
import { callCron } from "../cron-wire.ts";
import { formatDuration } from "../../base/duration.ts";
import { counted, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  options: wireOptions,
  examples: [{ line: "cron status", does: "one line" }],
  async run(io, { options }) {
    const status = await callCron(io, options, "cron.status", {});
    if (io.json) io.print(toJson(status));
    else {
      const { enabled, jobs, nextWakeAtMs } = status;
      const next =
        nextWakeAtMs === null ? "no job is due" : `next in ${formatDuration(nextWakeAtMs - systemClock.now())}`;
      io.print(enabled ? `${counted(jobs, "job")}, ${next}` : `${counted(jobs, "job")}, scheduler off (cron.enabled)`);
    }
    return 0;
  },
});
