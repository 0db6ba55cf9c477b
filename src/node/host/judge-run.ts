// Whether a node may run a command, by its own approvals file, and as what: the same code as on the machine of the gateway.
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

/** A request with what is known about this machine. */
export interface ResolvedRun extends RunRequest {
  readonly place: Place;
  /** Folders that the call puts in front of PATH; they are in `place.path` already. */
  readonly prefix: readonly string[];
}

export interface Verdict {
  readonly judgement: Judgement;
  /** Nothing is compared or resolved: the words are started as they are. */
  readonly isFull: boolean;
  /** What exactly would start; `content` also binds what files hold. */
  readonly plan: (depth: "place" | "content") => Plan;
}

/** Throws when the approvals file cannot be read: then nothing runs. `isHeld`: a person is asked about exactly this. */
export async function judgeRun(resolved: ResolvedRun, stateDir: string, isHeld: boolean): Promise<Verdict> {
  const { file } = readApprovals(stateDir);
  const policy = effectivePolicy({}, file, resolved.agent);
  const isPlain = policy.security !== "allowlist" && policy.ask !== "always" && !isHeld;
  const analysis = isPlain ? unread(resolved, "exec.unread", "no list is asked") : await analysed(resolved);
  const judgement = judge({ analysis, policy, safeBins: defaultSafeBins, home: resolved.place.home });
  return {
    judgement,
    isFull: judgement.code === "exec.full" && !isHeld,
    plan: (depth) => planOf(resolved, analysis, depth),
  };
}

/** The words behind `/bin/sh -lc` are read as a shell would; words without a shell are words. */
async function analysed(resolved: ResolvedRun): Promise<Analysis> {
  const { script, argv, place } = resolved;
  try {
    const analysis = await analyse(script ?? quoteArgv(argv), place);
    return resolved.prefix.length === 0 ? analysis : steered(analysis, place);
  } catch (error) {
    // No shell is asked, so what no shell could read may still be a program with odd words: for a person to decide.
    if (script !== undefined || !(error instanceof OpenClawError) || error.code !== "exec.bad-command") throw error;
    return unread(resolved, error.code, error.message);
  }
}

/** An allowed program that starts others by name would start what the call put in front of them; a list says no such thing. */
function steered(analysis: Analysis, { cwd }: Place): Analysis {
  if (analysis.kind === "other") return analysis;
  return { ...analysis, kind: "other", cwd, code: "exec.path", reason: "env.PATH puts folders in front" };
}

function unread({ text, place }: ResolvedRun, code: string, reason: string): Analysis {
  return { kind: "other", command: text, code, reason, segments: [], cwd: place.cwd };
}

/** A pipeline starts as what was found in it; anything else as the very words that were sent. */
function planOf(resolved: ResolvedRun, analysis: Analysis, depth: "place" | "content"): Plan {
  const { place, env, agent, session = "" } = resolved;
  const plan = makePlan({ analysis, place, env, shell: "/bin/sh", host: "node", agent, session, depth });
  if (analysis.kind === "pipeline" && (resolved.script !== undefined || plan.segments.length === 1)) return plan;
  const { argv, env: more } = exactArgv(resolved);
  const program = identifyProgram(argv[0] ?? "", place);
  if (program === undefined) throw new OpenClawError("exec.not-found", `there is no program "${argv[0] ?? ""}" here`);
  const { shell: _none, ...rest } = plan;
  const inner = plan.segments.flatMap((segment) => [segment.program, ...(segment.inner ?? [])]);
  const bound = depth === "content" ? { ...program, sha256: contentMark(program.path) } : program;
  return { ...rest, form: "pipeline", segments: [{ argv, program: bound, inner, env: more }] };
}

/** As they were sent; folders for PATH are put in front once more after a login profile had its say. */
export function exactArgv({ argv, script, prefix }: ResolvedRun): {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  return script === undefined || prefix.length === 0
    ? { argv, env: {} }
    : sandboxShell({ command: script, env: {}, pathPrepend: prefix });
}

/** The folder a command starts in; throws `exec.bad-folder`. */
export function folderOf(path: string): string {
  if (identityOf(path, "folder") !== undefined) return path;
  throw new OpenClawError("exec.bad-folder", `there is no folder "${path}" on this node`);
}
