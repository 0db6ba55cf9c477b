// The types of an analyzed command line: a fully understood pipeline, or the reason why it is not one.
import type { Segment } from "./plan.ts";

/** What the analysis needs to know about the place where a command line would run. */
export interface AnalysisContext {
  readonly cwd: string;
  readonly workspace: string;
  readonly home: string;
  /** The folders to search for programs. */
  readonly path: readonly string[];
  /** Absolute paths of the gateway's own files and folders; no allowlist entry lets a command name them. */
  readonly guarded?: readonly string[];
}

/** Why an allowlist cannot decide, for programs (`code`) and for people (`reason`). */
export interface Concern {
  readonly code: string;
  readonly reason: string;
}

/** The program that does the work: the segment's own, or the one that its wrappers (`nice`, `timeout`) start. */
export interface Judged {
  /** The name as written. */
  readonly written: string;
  readonly argv: readonly string[];
  readonly path: string;
  /** With links resolved. */
  readonly real: string;
}

export interface AnalyzedSegment extends Segment {
  readonly judged: Judged;
  /** Names of the wrappers around it, outermost first. */
  readonly wrappers: readonly string[];
  /** True when a word contained a wildcard or `~`, so that its arguments depend on the disk. */
  readonly expanded: boolean;
  /** Set when its arguments make it run something that no rule covers. */
  readonly concern?: Concern;
  /** Absolute paths of scripts whose content decides what happens. */
  readonly scripts: readonly string[];
}

export interface Pipeline {
  readonly kind: "pipeline";
  readonly command: string;
  readonly segments: readonly AnalyzedSegment[];
  /** After a leading `cd folder &&`. */
  readonly cwd: string;
}

export interface NotUnderstood extends Concern {
  readonly kind: "other";
  readonly command: string;
  /** The segments that could be read; there may be others. */
  readonly segments: readonly AnalyzedSegment[];
  readonly cwd: string;
}

export type Analysis = Pipeline | NotUnderstood;
