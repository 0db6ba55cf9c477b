// `openclaw cron add`: a new job; with --dry-run only what it would be and when it would run.
import { systemClock } from "../../base/clock.ts";
import { defineCommand, UsageError } from "../command.ts";
import { jobFields, jobOptions } from "../cron-job.ts";
import { firesText } from "../cron-fires.ts";
import { callCron, jobLine } from "../cron-wire.ts";
import { oneLine, toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

const path = ["cron", "add"];

export const command = defineCommand({
  details:
    "One of --at, --every, --cron says when; one of --system-event, --message, --exec, --tool says what.\nA result is put into the main chat unless --no-deliver or --channel and --to say otherwise.",
  options: {
    ...wireOptions,
    ...jobOptions,
    disabled: { type: "boolean", description: "Keep it, but do not run it yet." },
    "dry-run": { type: "boolean", description: "Add nothing; show the job and its next five times." },
  },
  examples: [
    { line: "cron add --name tea --at 20m --system-event 'Remind me: tea'", does: "a reminder" },
    {
      line: "cron add --name brief --cron '0 7 * * 1-5' --tz Europe/Berlin --message 'Sum up my day'",
      does: "a turn of the agent on work days",
    },
    { line: "cron add --name backup --every 1d --exec 'sh backup.sh' --no-deliver", does: "a command, no model" },
  ],
  async run(io, { options }) {
    const { disabled = false, "dry-run": isDry = false, ...flags } = options;
    const job = { ...jobFields(flags, path), ...(disabled ? { enabled: false } : {}) };
    if (!("schedule" in job)) throw new UsageError("say when: --at, --every or --cron", path);
    if (!hasPayload(options)) throw new UsageError("say what: --system-event, --message, --exec or --tool", path);
    if (flags.name === undefined) throw new UsageError("give it a --name", path);
    if (isDry) {
      const preview = await callCron(io, flags, "cron.preview", { job });
      io.print(io.json ? toJson(preview) : firesText(preview).join("\n"));
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
