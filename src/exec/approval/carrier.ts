// Programs whose arguments can carry a command or code: what each may be given, by family. Everything else is free.
import type { Concern, Judged, Place } from "./analysis.ts";
import type { Plan, Segment } from "./plan.ts";

export interface ArgumentVerdict {
  readonly concern?: Concern;
  readonly scripts: readonly string[];
}

export function concernOf(_judged: Judged, _place: Place): ArgumentVerdict {
  return { scripts: [] };
}

/** The program that does the work in a segment of a plan, and its own arguments. */
export function judgedOf(segment: Segment): {
  readonly path: string;
  readonly real: string;
  readonly argv: readonly string[];
} {
  const program = segment.inner?.at(-1) ?? segment.program;
  const at = segment.inner === undefined ? 0 : segment.argv.indexOf(program.path);
  return { path: program.path, real: program.real, argv: segment.argv.slice(at) };
}

/** Why a segment may not be allowed for good; undefined when it may. */
export function neverAlways(segment: Segment, plan: Plan): string | undefined {
  const judged = judgedOf(segment);
  const place = { cwd: plan.cwd.path, workspace: plan.cwd.path, home: "/", path: plan.path };
  const { concern, scripts } = concernOf({ written: judged.argv[0] ?? "", ...judged }, place);
  if (concern !== undefined) return concern.reason;
  return scripts.length === 0 ? undefined : `${judged.path} is an interpreter: it is allowed once at a time`;
}
