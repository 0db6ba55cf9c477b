// Decides by the node's approvals file whether and as what a command runs, with the same policy code as the gateway.
import { OpenClawError } from "../../core/error.ts";
import { analyze, type Analysis, type AnalysisContext } from "../../exec/policy/analyze.ts";
import { contentFingerprint } from "../../exec/policy/content.ts";
import { effectivePolicy } from "../../exec/policy/effective.ts";
import { readApprovals } from "../../exec/policy/file.ts";
import { makePlan } from "../../exec/policy/freeze.ts";
import { judge, type Judgment } from "../../exec/policy/decide.ts";
import type { Plan } from "../../exec/policy/plan.ts";
import { identifyProgram, identityOf } from "../../exec/policy/programs.ts";
import { defaultSafeBins } from "../../exec/policy/safe-bins.ts";
import { sandboxShell } from "../../exec/sandbox/shell.ts";
import { quoteArgv, type RunRequest } from "./run-request.ts";

/** A request resolved on this machine. */
export interface ResolvedRun extends RunRequest {
  readonly context: AnalysisContext;
  /** Folders that the call adds before PATH; already part of `context.path`. */
  readonly prefix: readonly string[];
}

export interface Verdict {
  readonly judgment: Judgment;
  /** True when the arguments start as sent, without comparing or resolving. */
  readonly isFull: boolean;
  /** What exactly would start; `content` also includes file content. */
  readonly plan: (depth: "identity" | "content") => Plan;
}

/**
 * Throws when the approvals file cannot be read, so that no command runs. `isHeld`: the owner is asked about exactly
 * this.
 */
export async function judgeRun(resolved: ResolvedRun, stateDir: string, isHeld: boolean): Promise<Verdict> {
  const { file } = readApprovals(stateDir);
  const policy = effectivePolicy({}, file, resolved.agent);
  const isPlain = policy.security !== "allowlist" && policy.ask !== "always" && !isHeld;
  const analysis = isPlain ? unread(resolved, "exec.unread", "the allowlist is not used") : await analyzeRun(resolved);
  const judgment = judge({ analysis, policy, safeBins: defaultSafeBins, home: resolved.context.home });
  return {
    judgment,
    isFull: judgment.code === "exec.full" && !isHeld,
    plan: (depth) => planOf(resolved, analysis, depth),
  };
}

/** A script behind `/bin/sh -lc` is parsed as a shell would; arguments without a shell are quoted. */
async function analyzeRun(resolved: ResolvedRun): Promise<Analysis> {
  const { script, argv, context } = resolved;
  try {
    const analysis = await analyze(script ?? quoteArgv(argv), context);
    return resolved.prefix.length === 0 ? analysis : withAddedFolders(analysis, context);
  } catch (error) {
    // No shell runs, so arguments that no shell could parse may still be valid; the owner decides.
    if (script !== undefined || !(error instanceof OpenClawError) || error.code !== "exec.bad-command") throw error;
    return unread(resolved, error.code, error.message);
  }
}

/**
 * An allowed program that starts others by name would find those in the added folders, which the allowlist does not
 * cover.
 */
function withAddedFolders(analysis: Analysis, { cwd }: AnalysisContext): Analysis {
  if (analysis.kind === "other") return analysis;
  return { ...analysis, kind: "other", cwd, code: "exec.path", reason: "env.PATH puts folders in front" };
}

function unread({ text, context }: ResolvedRun, code: string, reason: string): Analysis {
  return { kind: "other", command: text, code, reason, segments: [], cwd: context.cwd };
}

/** A pipeline starts as analyzed; anything else starts with the arguments that were sent. */
function planOf(resolved: ResolvedRun, analysis: Analysis, depth: "identity" | "content"): Plan {
  const { context, env, agent, session = "" } = resolved;
  const plan = makePlan({ analysis, context, env, shell: "/bin/sh", host: "node", agent, session, depth });
  if (analysis.kind === "pipeline" && (resolved.script !== undefined || plan.segments.length === 1)) return plan;
  const { argv, env: more } = exactArgv(resolved);
  const program = identifyProgram(argv[0] ?? "", context);
  if (program === undefined)
    throw new OpenClawError("exec.not-found", `program not found on this node: ${argv[0] ?? ""}`);
  const { shell: _none, ...rest } = plan;
  const inner = plan.segments.flatMap((segment) => [segment.program, ...(segment.inner ?? [])]);
  const bound = depth === "content" ? { ...program, sha256: contentFingerprint(program.path) } : program;
  return { ...rest, form: "pipeline", segments: [{ argv, program: bound, inner, env: more }] };
}

/** The arguments as sent; added folders are put before PATH again after a login profile has run. */
export function exactArgv({ argv, script, prefix }: ResolvedRun): {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  return script === undefined || prefix.length === 0
    ? { argv, env: {} }
    : sandboxShell({ command: script, env: {}, pathPrepend: prefix });
}

/** Returns the folder; throws `exec.bad-folder` when it does not exist. */
export function folderOf(path: string): string {
  if (identityOf(path, "folder") !== undefined) return path;
  throw new OpenClawError("exec.bad-folder", `folder not found on this node: ${path}`);
}
