// How much output an answer holds; the gateway's environment may set less, under the published names.
import type { Env } from "../base/paths.ts";
import { wholeNumberOf } from "../base/whole-number.ts";

export interface ExecLimits {
  /** Of a finished command; beyond this the end is kept, since that is where errors stand. */
  readonly aggregateChars: number;
  /** Of what nobody has polled yet. */
  readonly pendingChars: number;
}

const MAX_CHARS = 200_000;

export function limitsOf(env: Env): ExecLimits {
  return {
    aggregateChars: wholeNumberOf(env["PI_BASH_MAX_OUTPUT_CHARS"], 1000, MAX_CHARS) ?? MAX_CHARS,
    pendingChars: wholeNumberOf(env["OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS"], 1000, MAX_CHARS) ?? 30_000,
  };
}
