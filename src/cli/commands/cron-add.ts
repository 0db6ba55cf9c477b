// `openclaw cron add`: adds a job; with --dry-run it only shows the job and its next run times.
import { systemClock } from "../../base/clock.ts";
import { defineCommand, UsageError } from "../command.ts";
import { jobFields, jobOptions } from "../cron-job.ts";
import { callCron, jobLine, runTimesText } from "../cron-wire.ts";
import { oneLine, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

const path = ["cron", "add"];

export const command = defineCommand({
  details:
    "Give one of --at, --every, --cron for the schedule and one of --system-event, --message, --exec, --tool for the action.\nThe result is posted to the main chat, unless --no-deliver or --channel and --to are given.",
  options: {
    ...wireOptions,
    ...jobOptions,
    disabled: { type: "boolean", description: "Add it disabled." },
    "dry-run": { type: "boolean", description: "Add nothing; show the job and its next five run times." },
  },
  examples: [
    { line: "cron add --name tea --at 20m --system-event 'Remind me: tea'", does: "a reminder" },
    {
      line: "cron add --name brief --cron '0 7 * * 1-5' --tz Europe/Berlin --message 'Sum up my day'",
      does: "an agent turn on work days",
    },
    {
      line: "cron add --name backup --every 1d --exec 'sh backup.sh' --no-deliver",
      does: "a command, without a model",
    },
  ],
  async run(io, { options }) {
    const { disabled = false, "dry-run": isDry = false, ...flags } = options;
    const job = { ...jobFields(flags, path), ...(disabled ? { enabled: false } : {}) };
    if (!("schedule" in job)) throw new UsageError("missing schedule: --at, --every or --cron", path);
    if (!hasPayload(options)) throw new UsageError("missing action: --system-event, --message, --exec or --tool", path);
    if (flags.name === undefined) throw new UsageError("missing --name <name>", path);
    if (isDry) {
      const preview = await callCron(io, flags, "cron.preview", { job });
      io.print(io.json ? toJson(preview) : runTimesText(preview).join("\n"));
      return 0;
    }
    const added = await callCron(io, flags, "cron.add", job);
    io.print(io.json ? toJson(added) : oneLine(jobLine(added, systemClock.now())));
    return 0;
  },
});

function hasPayload(options: Readonly<Record<string, unknown>>): boolean {
  return ["system-event", "message", "exec", "tool"].some((name) => options[name] !== undefined);
}
