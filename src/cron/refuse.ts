// Errors for jobs and requests that are rejected, with a hint how to fix them.
import { OpenClawError } from "../core/error.ts";
import { visible } from "../core/visible.ts";

export function refuse(message: string, hint?: string): OpenClawError {
  return new OpenClawError("cron.invalid", message, hint === undefined ? {} : { hint });
}

/** The given value, shortened. */
export function given(value: unknown): string {
  return visible(JSON.stringify(value) ?? "nothing", 80);
}

/** Throws for a key that `what` does not have. */
export function requireKnownKeys(raw: Readonly<Record<string, unknown>>, known: readonly string[], what: string): void {
  const unknown = Object.keys(raw).find((key) => !known.includes(key) && raw[key] !== undefined);
  if (unknown !== undefined) throw refuse(`${what} has no "${unknown.slice(0, 80)}"`, `known: ${known.join(", ")}`);
}

export function unknownJob(id: string): OpenClawError {
  return new OpenClawError("cron.unknown-job", `unknown cron job id: ${id.slice(0, 80)}`, {
    hint: "cron list shows the ids; to see disabled jobs, add includeDisabled (--all on the command line)",
  });
}
