// How a job or a request about one is turned down: one kind of error, with what mends it.
import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";

export function refuse(message: string, hint?: string): OpenClawError {
  return new OpenClawError("cron.invalid", message, hint === undefined ? {} : { hint });
}

/** What was sent, short enough to repeat. */
export function given(value: unknown): string {
  return visible(JSON.stringify(value) ?? "nothing", 80);
}

export function unknownJob(id: string): OpenClawError {
  return new OpenClawError("cron.unknown-job", `unknown cron job id: ${id.slice(0, 80)}`, {
    hint: "cron list shows the ids; to see disabled jobs, add includeDisabled (--all on the command line)",
  });
}
