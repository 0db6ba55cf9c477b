// How much output a result holds; the gateway's environment can lower it with the published variable names.
import type { Env } from "../base/paths.ts";
import { wholeNumberOf } from "../base/whole-number.ts";
import { AGGREGATE_CHARS } from "./result.ts";

export interface ExecLimits {
  /** For a finished command; longer output keeps its end, where errors usually are. */
  readonly aggregateChars: number;
  /** For output that was not polled yet. */
  readonly pendingChars: number;
}

export function limitsOf(env: Env): ExecLimits {
  return {
    aggregateChars: wholeNumberOf(env["PI_BASH_MAX_OUTPUT_CHARS"], 1000, AGGREGATE_CHARS) ?? AGGREGATE_CHARS,
    pendingChars: wholeNumberOf(env["OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS"], 1000, AGGREGATE_CHARS) ?? 30_000,
  };
}
