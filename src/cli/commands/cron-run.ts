// `openclaw cron run`: runs a job now and waits for the result.
import type { CronRunEntry, CronRuns, CronRunStarted } from "../../protocol/methods/cron.ts";
import { defineCommand } from "../command.ts";
import { callCron } from "../cron-wire.ts";
import type { Io } from "../io.ts";
import { formatDuration } from "../../base/duration.ts";
import { toJson } from "../print.ts";
import { wireOptions, type WireFlags } from "../target.ts";

export const command = defineCommand({
  arguments: [{ name: "id", description: "The job." }],
  options: {
    ...wireOptions,
    due: { type: "boolean", description: "Run it only when it is due." },
    force: { type: "boolean", description: "Run it also when it is not due (the default)." },
  },
  examples: [
    { line: "cron run 6f1c0b7e-… --timeout 600000", does: "now, waiting up to ten minutes" },
    { line: "cron run 6f1c0b7e-… --due", does: "only when it is due" },
  ],
  exits: "0 the job succeeded or was not due, 1 it failed, 2 wrong usage",
  async run(io, { options: { due = false, force: _force, ...flags }, arguments: [id = ""] }) {
    const wire = { ...flags, timeout: flags.timeout ?? "600000" };
    const answer = await callCron(io, wire, "cron.run", { id, mode: due ? "due" : "force" });
    const run = answer.ran ? await lastRun(io, wire, id, due) : undefined;
    io.print(io.json ? toJson(run === undefined ? answer : { ...answer, run }) : outcome(answer, run, id));
    return run?.status === "error" ? 1 : 0;
  },
});

/** The record of this run: one started by hand, or with --due one started for its slot. */
async function lastRun(io: Io, wire: WireFlags, id: string, due: boolean): Promise<CronRunEntry | undefined> {
  const { entries } = (await callCron(io, wire, "cron.runs", { id, limit: 20 })) as CronRuns;
  const isOurs = ({ slot, state }: CronRunEntry): boolean =>
    due ? state !== "missed" && state !== "skipped" : slot.startsWith("run-");
  return entries.findLast(isOurs);
}

function outcome({ ran, reason }: CronRunStarted, run: CronRunEntry | undefined, id: string): string {
  if (!ran) return `not run: ${reason ?? "unknown reason"}`;
  if (run === undefined) return `it ran; show the result with: openclaw cron runs --id ${id}`;
  const words = (run.error ?? (run.summary || run.why) ?? "").slice(0, 500);
  return `${run.state ?? run.status}, ${formatDuration(run.durationMs)}${words === "" ? "" : `: ${words}`}`;
}
