// Counts recent failed starts in a file, because a process that fails to start keeps no memory of it.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { errnoOf } from "../core/error.ts";
import { writeFileAtomic } from "../base/atomic-file.ts";
import { systemClock } from "../base/clock.ts";

export interface StartFailures {
  readonly times: readonly number[];
  /** Of the last one. */
  readonly reason: string;
}

/** Failures within this time count as a restart loop of the supervisor. */
const WINDOW_MS = 5 * 60_000;
const KEEP = 10;

const fileIn = (stateDir: string): string => join(stateDir, "start-failures.json");

export function startFailures(stateDir: string): StartFailures {
  try {
    const { times, reason } = JSON.parse(readFileSync(fileIn(stateDir), "utf8")) as Partial<Record<string, unknown>>;
    const since = systemClock.now() - WINDOW_MS;
    const recent = Array.isArray(times) ? times.filter((at): at is number => typeof at === "number" && at > since) : [];
    return { times: recent, reason: typeof reason === "string" ? reason : "" };
  } catch (error) {
    // A missing or unreadable file counts as no failures.
    if (errnoOf(error) !== undefined || error instanceof SyntaxError || error instanceof TypeError)
      return { times: [], reason: "" };
    throw error;
  }
}

/** Returns the number of recent failures, including this one. Throws when the file cannot be written. */
export function countStartFailure(stateDir: string, reason: string): number {
  const times = [...startFailures(stateDir).times, systemClock.now()].slice(-KEEP);
  writeFileAtomic(fileIn(stateDir), `${JSON.stringify({ times, reason })}\n`);
  return times.length;
}

export function forgetStartFailures(stateDir: string): void {
  rmSync(fileIn(stateDir), { force: true });
}

/** The error message on one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/(:?)\s*\n\s*/g, (_, colon: string) => (colon === "" ? "; " : ": ")).slice(0, 1000);
}
