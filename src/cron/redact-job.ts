// Jobs and their runs without secrets, for clients that may only read.
import { isRecord } from "../core/record.ts";
import { redactCommand, redactArguments } from "../base/command-secrets.ts";
import type { Mask } from "../base/mask.ts";
import { looksSecret } from "../base/secret-names.ts";
import { redacted } from "../config/redact.ts";
import type { CronEvent } from "./deps.ts";
import type { RunEntry } from "./entry.ts";
import type { Job } from "./job.ts";

/** Redacts by the name of a field (header, flag, variable), by the form of a value, and by known secrets. */
export function redactJob(job: Job, mask: Mask): Job {
  return redactValue(job, mask) as Job;
}

/** The error of a run can quote its arguments. */
export function redactEntry(entry: RunEntry, mask: Mask): RunEntry {
  return redactValue(entry, mask) as RunEntry;
}

/** Events also reach clients that may only read. */
export function redactEvent({ error, summary, ...event }: CronEvent, mask: Mask): CronEvent {
  return {
    ...event,
    ...(error === undefined ? {} : { error: redactText(error, mask) }),
    ...(summary === undefined ? {} : { summary: redactText(summary, mask) }),
  };
}

function redactValue(value: unknown, mask: Mask, name = ""): unknown {
  if (typeof value === "string") return looksSecret(name) && value !== "" ? redacted : redactText(value, mask);
  if (Array.isArray(value)) {
    const isText = value.every((entry) => typeof entry === "string");
    const entries: readonly unknown[] = isText ? redactArguments(value as string[], redacted) : value;
    return entries.map((entry) => redactValue(entry, mask, name));
  }
  if (!isRecord(value)) return value;
  // In `{ name, value }` the name says what the value is.
  const label = typeof value["name"] === "string" ? value["name"] : "";
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      redactValue(child, mask, plainNames.has(key) ? "" : key === "value" ? label : key),
    ]),
  );
}

/** Field names that end like those of secrets. */
const plainNames: ReadonlySet<string> = new Set(["sessionKey"]);

export function redactText(text: string, mask: Mask): string {
  return mask(redactCommand(text, redacted));
}
