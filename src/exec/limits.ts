// Limits of commands that the gateway's environment may set where the config says nothing, under their published names.
import type { Env } from "../base/paths.ts";

export interface ExecLimits {
  /** How long a command may hold the turn. */
  readonly yieldMs: number;
  /** Of a finished command; beyond this the end is kept, since that is where errors stand. */
  readonly aggregateChars: number;
  /** Of what nobody has polled yet. */
  readonly pendingChars: number;
  /** How long a finished command stays listed; the table holds it within its bounds. */
  readonly cleanupMs: number | undefined;
}

const MAX_CHARS = 200_000;

/** What is no whole number counts as not set. */
export function limitsOf(env: Env): ExecLimits {
  return {
    yieldMs: wholeOf(env["PI_BASH_YIELD_MS"], 10, 120_000) ?? 10_000,
    aggregateChars: wholeOf(env["PI_BASH_MAX_OUTPUT_CHARS"], 1000, MAX_CHARS) ?? MAX_CHARS,
    pendingChars: wholeOf(env["OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS"], 1000, MAX_CHARS) ?? 30_000,
    cleanupMs: wholeOf(env["PI_BASH_JOB_TTL_MS"], 0, Number.MAX_SAFE_INTEGER),
  };
}

function wholeOf(text: string | undefined, least: number, most: number): number | undefined {
  const words = text?.trim() ?? "";
  return /^\d{1,15}$/.test(words) ? Math.min(most, Math.max(least, Number(words))) : undefined;
}
