// `openclaw cron runs`: what became of each time of a job, also of those that were missed.
import { defineCommand, UsageError } from "../command.ts";
import { callCron, unknownJob, type ShownJob } from "../cron-wire.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";
import { span, table, toJson } from "../print.ts";
import { wireOptions, type WireFlags } from "../target.ts";

interface Entry {
  readonly ts: number;
  readonly state?: string;
  readonly status: string;
  readonly why?: string;
  readonly error?: string;
  readonly summary?: string;
  readonly runAtMs: number;
  readonly durationMs: number;
}

export const command = defineCommand({
  summary: "Show what became of each time of a job: ran, failed, skipped, missed, unknown.",
  arguments: [{ name: "id", description: "The job; also as --id.", optional: true }],
  options: {
    ...wireOptions,
    id: { type: "string", value: "id", description: "The job." },
    limit: { type: "string", value: "n", description: "How many, the newest; 50 unless said." },
  },
  examples: [{ line: "cron runs --id 6f1c0b7e-… --limit 10", does: "the last ten, newest last" }],
  async run(io, { options, arguments: [named] }) {
    const id = options.id ?? named;
    if (id === undefined) throw new UsageError("which job? --id <id>", ["cron", "runs"]);
    const limit = wholeNumber("limit", options.limit, { min: 1, max: 5000 }) ?? 50;
    const answer = (await callCron(io, options, "cron.runs", { id, limit })) as { entries: Entry[] };
    if (io.json) io.print(toJson(answer));
    else if (answer.entries.length === 0) io.print(await whyNone(io, options, id));
    else io.print(table(answer.entries, shape, io).join("\n"));
    return 0;
  },
});

/** A job that was removed keeps its runs, so only one without any may be a slip of the pen. */
async function whyNone(io: Io, flags: WireFlags, id: string): Promise<string> {
  const { jobs } = (await callCron(io, flags, "cron.list", { includeDisabled: true })) as { jobs: ShownJob[] };
  if (!jobs.some((job) => job.id === id)) throw unknownJob(id);
  return "It has not run yet.";
}

const shape = [
  { title: "When", text: ({ runAtMs }: Entry) => new Date(runAtMs).toISOString() },
  { title: "State", text: ({ state, status }: Entry) => state ?? status },
  { title: "Took", text: ({ durationMs }: Entry) => span(durationMs) },
  { title: "", text: ({ error, why, summary }: Entry) => (error ?? (summary || why) ?? "").slice(0, 120) },
];
