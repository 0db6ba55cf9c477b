// Freezes a plan for approval and compares it again before the start (docs/decisions/0014-approvals-freeze-a-plan.md).
import { OpenClawError } from "../../core/error.ts";
import { sha256 } from "../../base/ids.ts";
import type { AnalyzedSegment, Analysis, AnalysisContext } from "./analysis.ts";
import { boundFiles } from "./bound-files.ts";
import { contentFingerprint } from "./content.ts";
import type { Identity, Plan, Segment } from "./plan.ts";
import { identifyProgram, identityOf } from "./programs.ts";
import { shebangOf } from "./shebang.ts";

export interface PlanInput {
  readonly analysis: Analysis;
  readonly context: AnalysisContext;
  /** Variables that the call added. */
  readonly env: Readonly<Record<string, string>>;
  /** Path of the shell, for a line that is not a pipeline. */
  readonly shell?: string;
  readonly host: "gateway" | "node";
  readonly agent: string;
  readonly session: string;
  /** `content` also hashes programs, for a plan that needs approval; scripts are always hashed. */
  readonly depth?: "content" | "identity";
}

/** Throws `exec.bad-folder` when the folder does not exist. */
export function makePlan(input: PlanInput): Plan {
  const { analysis, context, depth = "content" } = input;
  const full = (identity: Identity): Identity => (depth === "content" ? hashed(identity) : identity);
  const cwd = identityOf(analysis.cwd, "folder");
  if (cwd === undefined)
    throw new OpenClawError("exec.bad-folder", `folder not found: ${analysis.cwd}`, {
      hint: "set workdir to an existing folder",
    });
  return {
    command: analysis.command,
    form: analysis.kind === "pipeline" ? "pipeline" : "shell",
    segments: analysis.segments.map((segment) => ({
      ...frozenSegment(segment, full),
      ...(depth === "content" ? frozenShebang(segment, context) : {}),
    })),
    cwd,
    files: boundFiles(analysis, context).map(hashed),
    env: { ...input.env },
    path: context.path,
    ...(analysis.kind === "pipeline" ? {} : { shell: shellOf(input.shell, full) }),
    host: input.host,
    agent: input.agent,
    session: input.session,
  };
}

/** Throws `approval.changed` with the part that changed. */
export async function verifyPlan(plan: Plan): Promise<void> {
  verify("the working folder", plan.cwd, identityOf(plan.cwd.path, "folder"));
  for (const segment of plan.segments) verifySegment(segment, plan);
  for (const file of plan.files) verify(`the file ${file.path}`, file, identityOf(file.path, "file"));
  if (plan.shell !== undefined) verify("the shell", plan.shell, identityOf(plan.shell.path, "file"));
}

/** One hash for a whole plan, so that two sides can compare it. */
export function planHash(plan: Plan): string {
  return sha256(JSON.stringify(sorted(plan)));
}

function frozenSegment(segment: AnalyzedSegment, full: (identity: Identity) => Identity): Segment {
  const { argv, program, inner, env, errors, output, input } = segment;
  return {
    argv,
    program: full(program),
    ...(inner === undefined ? {} : { inner: inner.map(full) }),
    env,
    ...(errors === undefined ? {} : { errors }),
    ...(output === undefined ? {} : { output }),
    ...(input === undefined ? {} : { input }),
  };
}

/** The interpreter of a script counts as much as the script. */
function frozenShebang({ program, inner }: AnalyzedSegment, context: AnalysisContext): Pick<Segment, "shebang"> {
  const shebang = shebangOf((inner?.at(-1) ?? program).path, context);
  return shebang === undefined ? {} : { shebang: { ...shebang, interpreter: hashed(shebang.interpreter) } };
}

function shellOf(path: string | undefined, full: (identity: Identity) => Identity): Identity {
  const identity = path === undefined ? undefined : identityOf(path, "file");
  if (identity === undefined)
    throw new OpenClawError("exec.no-shell", `no shell at ${path ?? "(none given)"}`, { hint: "set SHELL" });
  return full(identity);
}

/** A name is looked up again, because a program may have appeared earlier on PATH. */
function verifySegment(segment: Segment, plan: Plan): void {
  const name = segment.argv[0] ?? "";
  const now = identifyProgram(name, { cwd: plan.cwd.path, path: plan.path });
  verify(`the program ${name}`, segment.program, now);
  const others = [...(segment.inner ?? []), ...(segment.shebang === undefined ? [] : [segment.shebang.interpreter])];
  for (const other of others) verify(`the program ${other.path}`, other, identityOf(other.path, "file"));
}

function verify(what: string, then: Identity, now: Identity | undefined): void {
  const same =
    now !== undefined &&
    now.path === then.path &&
    now.real === then.real &&
    now.device === then.device &&
    now.inode === then.inode &&
    (then.sha256 === undefined || hashed(now).sha256 === then.sha256);
  if (!same) throw changedSince(what);
}

export function changedSince(what: string): OpenClawError {
  return new OpenClawError("approval.changed", `not started: ${what} changed after it was allowed`, {
    hint: "run it again: the changed state needs its own approval",
  });
}

function hashed(identity: Identity): Identity {
  return { ...identity, sha256: contentFingerprint(identity.path) };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
