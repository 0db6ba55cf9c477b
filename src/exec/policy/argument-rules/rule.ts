// What a family of programs says about its arguments.
import type { Judged, Place } from "../analysis.ts";

export interface Finding {
  /** Why the arguments cannot be answered by an allowlist. */
  readonly concern?: string;
  /** Files whose content decides what happens, absolute. */
  readonly scripts?: readonly string[];
}

export type Rule = (args: readonly string[], judged: Judged, place: Place) => Finding;

export const fine: Finding = {};

export const concern = (why: string): Finding => ({ concern: why });
