// Decides by the node's approvals file whether and as what a command runs, with the same policy code as the gateway.
import { OpenClawError } from "../../core/error.ts";
import { analyse, type Analysis, type Place } from "../../exec/policy/analyse.ts";
import { contentMark } from "../../exec/policy/content.ts";
import { effectivePolicy } from "../../exec/policy/effective.ts";
import { readApprovals } from "../../exec/policy/file.ts";
import { makePlan } from "../../exec/policy/freeze.ts";
import { judge, type Judgement } from "../../exec/policy/decide.ts";
import type { Plan } from "../../exec/policy/plan.ts";
import { identifyProgram, identityOf } from "../../exec/policy/programs.ts";
import { defaultSafeBins } from "../../exec/policy/safe-bins.ts";
import { sandboxShell } from "../../exec/sandbox/shell.ts";
import { quoteArgv, type RunRequest } from "./run-request.ts";

/** A request resolved on this machine. */
export interface ResolvedRun extends RunRequest {
  readonly place: Place;
  /** Folders that the call adds before PATH; already part of `place.path`. */
  readonly prefix: readonly string[];
}

export interface Verdict {
  readonly judgement: Judgement;
  /** True when the arguments start as sent, without comparing or resolving. */
  readonly isFull: boolean;
  /** What exactly would start; `content` also includes file content. */
  readonly plan: (depth: "place" | "content") => Plan;
}

/**
 * Throws when the approvals file cannot be read, so that no command runs. `isHeld`: the owner is asked about exactly
 * this.
 */
export async function judgeRun(resolved: ResolvedRun, stateDir: string, isHeld: boolean): Promise<Verdict> {
  const { file } = readApprovals(stateDir);
  const policy = effectivePolicy({}, file, resolved.agent);
  const isPlain = policy.security !== "allowlist" && policy.ask !== "always" && !isHeld;
  const analysis = isPlain ? unread(resolved, "exec.unread", "the allowlist is not used") : await analysed(resolved);
  const judgement = judge({ analysis, policy, safeBins: defaultSafeBins, home: resolved.place.home });
  return {
    judgement,
    isFull: judgement.code === "exec.full" && !isHeld,
    plan: (depth) => planOf(resolved, analysis, depth),
  };
}

/** A script behind `/bin/sh -lc` is parsed as a shell would; arguments without a shell are quoted. */
async function analysed(resolved: ResolvedRun): Promise<Analysis> {
  const { script, argv, place } = resolved;
  try {
    const analysis = await analyse(script ?? quoteArgv(argv), place);
    return resolved.prefix.length === 0 ? analysis : steered(analysis, place);
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
function steered(analysis: Analysis, { cwd }: Place): Analysis {
  if (analysis.kind === "other") return analysis;
  return { ...analysis, kind: "other", cwd, code: "exec.path", reason: "env.PATH puts folders in front" };
}

function unread({ text, place }: ResolvedRun, code: string, reason: string): Analysis {
  return { kind: "other", command: text, code, reason, segments: [], cwd: place.cwd };
}

/** A pipeline starts as analyzed; anything else starts with the arguments that were sent. */
function planOf(resolved: ResolvedRun, analysis: Analysis, depth: "place" | "content"): Plan {
  const { place, env, agent, session = "" } = resolved;
  const plan = makePlan({ analysis, place, env, shell: "/bin/sh", host: "node", agent, session, depth });
  if (analysis.kind === "pipeline" && (resolved.script !== undefined || plan.segments.length === 1)) return plan;
  const { argv, env: more } = exactArgv(resolved);
  const program = identifyProgram(argv[0] ?? "", place);
  if (program === undefined)
    throw new OpenClawError("exec.not-found", `program not found on this node: ${argv[0] ?? ""}`);
  const { shell: _none, ...rest } = plan;
  const inner = plan.segments.flatMap((segment) => [segment.program, ...(segment.inner ?? [])]);
  const bound = depth === "content" ? { ...program, sha256: contentMark(program.path) } : program;
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
