// The type of an argument rule for a family of programs, and its result.
import type { Judged, AnalysisContext } from "../analysis.ts";

export interface Finding {
  /** Why an allowlist entry cannot cover these arguments. */
  readonly concern?: string;
  /** Absolute paths of files whose content decides what happens. */
  readonly scripts?: readonly string[];
}

export type Rule = (args: readonly string[], judged: Judged, context: AnalysisContext) => Finding;

export const fine: Finding = {};

export const concern = (why: string): Finding => ({ concern: why });
