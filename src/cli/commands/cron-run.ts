// `openclaw cron run`: runs a job now and waits until it is over.
import { defineCommand } from "../command.ts";
import { callCron } from "../cron-wire.ts";
import { toJson } from "../print.ts";
import { wireOptions } from "../target.ts";

export const command = defineCommand({
  summary: "Run a job now, and wait until it is over.",
  arguments: [{ name: "id", description: "The job." }],
  options: {
    ...wireOptions,
    due: { type: "boolean", description: "Only when it is due." },
    force: { type: "boolean", description: "Also when it is not due, which is so anyway." },
  },
  examples: [
    { line: "cron run 6f1c0b7e-… --timeout 600000", does: "now, waiting up to ten minutes" },
    { line: "cron run 6f1c0b7e-… --due", does: "only when its time has come" },
  ],
  async run(io, { options: { due = false, force: _force, ...flags }, arguments: [id = ""] }) {
    const wire = { ...flags, timeout: flags.timeout ?? "600000" };
    const answer = (await callCron(io, wire, "cron.run", { id, mode: due ? "due" : "force" })) as {
      ran: boolean;
      reason?: string;
    };
    io.print(
      io.json ? toJson(answer) : answer.ran ? "it ran: openclaw cron runs --id …" : `not run: ${answer.reason ?? ""}`,
    );
    return 0;
  },
});
