// What the analysis of a command line says: a pipeline that is wholly understood, or something else and why.
import type { Segment } from "./plan.ts";

/** Where a command line would run. */
export interface Place {
  readonly cwd: string;
  readonly workspace: string;
  readonly home: string;
  /** The folders programs are looked for in. */
  readonly path: readonly string[];
  /** Files and folders of the gateway itself, absolute: no allowlist lets a command name them. */
  readonly guarded?: readonly string[];
}

/** Why something cannot be answered by an allowlist, for programs (`code`) and for people (`reason`). */
export interface Concern {
  readonly code: string;
  readonly reason: string;
}

/** The program that does the work: the segment itself, or what its wrappers (`nice`, `timeout`) start. */
export interface Judged {
  /** Its name as it was written. */
  readonly written: string;
  readonly argv: readonly string[];
  readonly path: string;
  /** Links resolved. */
  readonly real: string;
}

export interface AnalysedSegment extends Segment {
  readonly judged: Judged;
  /** Names of the wrappers around it, outermost first. */
  readonly wrappers: readonly string[];
  /** True when a wildcard or `~` stood in its words: what the arguments are depends on the disk. */
  readonly expanded: boolean;
  /** Set when its arguments make it run something that no rule names. */
  readonly concern?: Concern;
  /** Scripts whose content decides what happens, absolute. */
  readonly scripts: readonly string[];
}

export interface Pipeline {
  readonly kind: "pipeline";
  readonly command: string;
  readonly segments: readonly AnalysedSegment[];
  /** After a leading `cd folder &&`. */
  readonly cwd: string;
}

export interface NotUnderstood extends Concern {
  readonly kind: "other";
  readonly command: string;
  /** What could be told, without a promise that it is all. */
  readonly segments: readonly AnalysedSegment[];
  readonly cwd: string;
}

export type Analysis = Pipeline | NotUnderstood;
