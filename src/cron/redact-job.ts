// A job and its rows as they are shown to who may look and not change: what lets anybody in somewhere is taken out.
import { isRecord } from "../core/record.ts";
import { hideCommandSecrets, hideWordSecrets } from "../base/command-secrets.ts";
import type { Mask } from "../base/mask.ts";
import { looksSecret } from "../base/secret-names.ts";
import { redacted } from "../config/redact.ts";
import type { RunEntry } from "./entry.ts";
import type { Job } from "./job.ts";

/** Everything people write into it, by its name (a header, a flag, a variable), its form, and as a known secret. */
export function redactJob(job: Job, mask: Mask): Job {
  return veiled(job, mask) as Job;
}

/** What came out of a run is masked as every result is; why it failed may quote what it was given. */
export function redactEntry(entry: RunEntry, mask: Mask): RunEntry {
  return veiled(entry, mask) as RunEntry;
}

function veiled(value: unknown, mask: Mask, name = ""): unknown {
  if (typeof value === "string") return looksSecret(name) && value !== "" ? redacted : veiledWords(value, mask);
  if (Array.isArray(value)) {
    const isWords = value.every((entry) => typeof entry === "string");
    const entries: readonly unknown[] = isWords ? hideWordSecrets(value as string[], redacted) : value;
    return entries.map((entry) => veiled(entry, mask, name));
  }
  if (!isRecord(value)) return value;
  // `{ name, value }`: the one says what the other is.
  const label = typeof value["name"] === "string" ? value["name"] : "";
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      veiled(child, mask, ownNames.has(key) ? "" : key === "value" ? label : key),
    ]),
  );
}

/** Fields of the house that end like a secret and are none. */
const ownNames: ReadonlySet<string> = new Set(["sessionKey"]);

export function veiledWords(text: string, mask: Mask): string {
  return mask(hideCommandSecrets(text, redacted));
}
