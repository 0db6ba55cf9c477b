// Keeps the last readable approvals file in memory and beside it, so that losing the file does not lose the rules.
import { OpenClawError } from "../../core/error.ts";
import { writeFileAtomic } from "../../base/atomic-file.ts";
import { readIfThere } from "./read-file.ts";

interface Kept {
  readonly raw: string;
  readonly rules: string;
}

const kept = new Map<string, Kept>();

export const lastKnownPath = (path: string): string => path.replace(/\.json$/, ".last.json");

/** Call it only with text that was read and parsed. */
export function keepLastKnown(path: string, raw: string): void {
  const before = kept.get(path);
  if (before?.raw === raw) return;
  const rules = rulesIn(raw);
  kept.set(path, { raw, rules });
  if (before?.rules === rules) return;
  try {
    const copy = readIfThere(lastKnownPath(path));
    if (copy === undefined || rulesIn(copy) !== rules) writeFileAtomic(lastKnownPath(path), raw);
  } catch (error) {
    // A full or read-only disk must not block commands; the copy in memory is valid while this process runs.
    if (!(error instanceof OpenClawError || error instanceof SyntaxError)) throw error;
  }
}

/** What any process stored last; without that copy, what this process has read. */
export function lastKnown(path: string): string | undefined {
  return readIfThere(lastKnownPath(path)) ?? kept.get(path)?.raw;
}

/** Without the usage records, which change with every command. */
function rulesIn(raw: string): string {
  return JSON.stringify(JSON.parse(raw), (key, value: unknown) =>
    /^last(?:Used|Resolved)/.test(key) ? undefined : value,
  );
}
