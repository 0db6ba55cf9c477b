// `openclaw cron runs`: shows the outcome of each slot of a job, also of missed ones.
import type { CronOutput, CronRunEntry, CronRuns } from "../../protocol/methods/cron.ts";
import { defineCommand, UsageError } from "../command.ts";
import { callCron, unknownJob } from "../cron-wire.ts";
import type { Io } from "../io.ts";
import { wholeNumber } from "../parse.ts";
import { formatDuration } from "../../base/duration.ts";
import { table, toJson } from "../print.ts";
import { wireOptions, type WireFlags } from "../target.ts";

export const command = defineCommand({
  arguments: [{ name: "id", description: "The job; also as --id.", optional: true }],
  options: {
    ...wireOptions,
    id: { type: "string", value: "id", description: "The job." },
    limit: {
      type: "string",
      value: "n",
      description: "Number of newest runs (default: 50), or of lines with --slot (default: 200).",
    },
    slot: { type: "string", value: "slot", description: "Show the output of this run; --json lists the slots." },
    offset: { type: "string", value: "n", description: "With --slot: lines to skip (default: 0)." },
  },
  examples: [{ line: "cron runs --id 6f1c0b7e-… --limit 10", does: "the last ten, newest last" }],
  async run(io, { options, arguments: [named] }) {
    const id = options.id ?? named;
    if (id === undefined) throw new UsageError("missing --id <id>", ["cron", "runs"]);
    const limit = wholeNumber("limit", options.limit, { min: 1, max: 5000 });
    if (options.slot !== undefined) return showOutput(io, options, { id, slot: options.slot, limit });
    const answer = (await callCron(io, options, "cron.runs", { id, limit: limit ?? 50 })) as CronRuns;
    if (io.json) io.print(toJson(answer));
    else if (answer.entries.length === 0) io.print(await whyNone(io, options, id));
    else io.print(table(answer.entries, shape, io).join("\n"));
    return 0;
  },
});

async function showOutput(
  io: Io,
  flags: WireFlags & { readonly offset?: string | undefined },
  { limit = 200, ...run }: { readonly id: string; readonly slot: string; readonly limit?: number | undefined },
): Promise<number> {
  const offset = wholeNumber("offset", flags.offset, { min: 0, max: 1_000_000 }) ?? 0;
  const page = (await callCron(io, flags, "cron.runs", { ...run, offset, limit })) as CronOutput;
  io.print(io.json ? toJson(page) : page.text);
  const rest = page.totalLines - offset - limit;
  if (rest > 0 && !io.json) io.print(`(${rest} more lines: --offset ${offset + limit})`);
  return 0;
}

/** A removed job keeps its runs, so an id without runs may be a typing mistake. */
async function whyNone(io: Io, flags: WireFlags, id: string): Promise<string> {
  const { jobs } = await callCron(io, flags, "cron.list", { includeDisabled: true });
  if (!jobs.some((job) => job.id === id)) throw unknownJob(id);
  return "The job has not run yet.";
}

const shape = [
  { title: "When", text: ({ runAtMs }: CronRunEntry) => new Date(runAtMs).toISOString() },
  { title: "State", text: ({ state }: CronRunEntry) => state },
  { title: "Took", text: ({ durationMs }: CronRunEntry) => formatDuration(durationMs) },
  { title: "", text: ({ error, why, summary }: CronRunEntry) => (error ?? (summary || why) ?? "").slice(0, 120) },
];
