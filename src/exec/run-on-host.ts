// Runs a command on the gateway host: under the approvals file, or without rules for host=sandbox when no sandbox
// exists.
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";

import { ToolError } from "../core/error.ts";
import { visible } from "../core/visible.ts";
import { expandHome } from "../base/paths.ts";
import { analyze, type Analysis, type AnalysisContext } from "./policy/analyze.ts";
import { effectivePolicy } from "./policy/effective.ts";
import { readApprovals } from "./policy/file.ts";
import { denialHint } from "./policy/denial-hint.ts";
import { changedSince, makePlan, planHash, verifyPlan } from "./policy/freeze.ts";
import { judge, judgeUnanswerable, judgeUnguarded, type JudgeInput, type Judgment } from "./policy/decide.ts";
import type { Plan } from "./policy/plan.ts";
import { statOf } from "./policy/programs.ts";
import { defaultSafeBins } from "./policy/safe-bins.ts";
import type { HostLaunch } from "./sandbox.ts";
import { childEnvironment, rejectVariables } from "./environment.ts";
import type { ExecContext, ExecDeps } from "./exec-context.ts";
import { isHeadless, type ExecRequest, wantsInput } from "./exec-request.ts";
import { rejectGatewayFolder } from "./guard.ts";
import type { GuardedPaths } from "./guard/guarded-paths.ts";
import type { ExecOutcome } from "./result.ts";
import type { Running } from "./running.ts";
import { startPlan, startWith, type PlanStart } from "./start-plan.ts";

export async function runOnHost(context: ExecContext, request: ExecRequest): Promise<ExecOutcome> {
  const { deps, follow } = context;
  const { args, call, route, timeoutMs } = request;
  const guardedPaths = deps.guardedPaths(call.agent, call.workspace);
  const analysisContext = await analysisContextOf(deps, request, guardedPaths);
  const { cwd } = analysisContext;
  if (!route.approvals) return follow.inTurn(request, await startShell(deps, request, analysisContext), cwd);

  const { judgment, input, fix } = await judged(deps, request, analysisContext, guardedPaths);
  if (judgment.outcome === "deny") throw denied(judgment, input, request, fix);
  rejectGatewayFolder(input.analysis.cwd, guardedPaths);
  const planFor = (depth: "identity" | "content"): Plan =>
    planOf(deps, request, input.analysis, analysisContext, depth);
  if (judgment.outcome === "ask") {
    const noticeMs = request.settings.approvalRunningNoticeMs ?? 10_000;
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    return context.approvedRuns.ask(request, {
      on: "gateway",
      args,
      plan: planFor("content"),
      ...limit,
      tty: args.pty === true,
      noticeMs,
    });
  }
  if (input.policy.security === "full")
    return follow.inTurn(request, await startShell(deps, request, analysisContext), cwd);
  const guard = (launch: HostLaunch): Promise<HostLaunch> => deps.guard.wrap(launch, guardedPaths);
  if (judgment.code === "exec.full")
    return follow.inTurn(request, await startShell(deps, request, analysisContext, guard), cwd);
  const plan = planFor("identity");
  const running = await startPlan(deps, plan, {
    tty: args.pty === true,
    hasInput: wantsInput(args),
    timeoutMs,
    more: judgment.env,
    guard,
  });
  deps.noteUse(judgment.matched, plan);
  return follow.inTurn(request, running, plan.cwd.path);
}

/** Judges a run that waits for approval again. Throws when it is denied now or is no longer the plan that was shown. */
export async function recheckOnHost(deps: ExecDeps, request: ExecRequest, plan: Plan): Promise<void> {
  const analysisContext = await analysisContextOf(deps, request);
  const input = await judgeInput(deps, request, analysisContext);
  const judgment = judge(input);
  if (request.route.approvals && judgment.outcome === "deny") throw denied(judgment, input, request);
  await verifyPlan(plan);
  const now = planOf(deps, request, input.analysis, analysisContext, "content");
  // The programs are compared one by one, so the folders of PATH may differ.
  if (planHash({ ...now, path: [] }) !== planHash({ ...plan, path: [] })) throw changedSince("what it would start");
}

async function analysisContextOf(
  deps: ExecDeps,
  { args, call, settings }: ExecRequest,
  guardedPaths = deps.guardedPaths(call.agent, call.workspace),
): Promise<AnalysisContext> {
  rejectVariables(args.env ?? {}, "gateway");
  const cwd = hostFolder(args.workdir, call.workspace, deps.home);
  rejectGatewayFolder(cwd, guardedPaths);
  const path = await deps.searchPath(settings.pathPrepend ?? []);
  const { home, guarded } = deps;
  return { cwd, workspace: call.workspace, home, path, guarded };
}

function planOf(
  deps: ExecDeps,
  { args, call }: ExecRequest,
  analysis: Analysis,
  analysisContext: AnalysisContext,
  depth: "identity" | "content",
): Plan {
  const { agent, session } = call;
  const env = args.env ?? {};
  return makePlan({
    analysis,
    context: analysisContext,
    env,
    shell: deps.shell(),
    host: "gateway",
    agent,
    session,
    depth,
  });
}

interface Judged {
  readonly judgment: Judgment;
  readonly input: JudgeInput;
  /** The command that makes the guard work, so that the rule alone is enough. */
  readonly fix?: string;
}

/** `askFallback` decides when the question cannot reach a person; a run by a rule alone needs the guard. */
async function judged(
  deps: ExecDeps,
  request: ExecRequest,
  analysisContext: AnalysisContext,
  guardedPaths: GuardedPaths,
): Promise<Judged> {
  const input = await judgeInput(deps, request, analysisContext);
  const first = judge(input);
  const canAsk = deps.broker.reachable() && !isHeadless(request.call.session);
  const judgment = first.outcome !== "ask" || canAsk ? first : judgeUnanswerable(input);
  if (judgment.outcome !== "run" || input.policy.security === "full") return { judgment, input };
  const guard = await deps.guard.works(guardedPaths);
  if (guard.works) return { judgment, input };
  const { reason, fix } = guard;
  return { judgment: judgeUnguarded(judgment, `${reason} (fix: ${fix})`, canAsk), input, fix };
}

async function judgeInput(
  deps: ExecDeps,
  { args, call, route, settings }: ExecRequest,
  analysisContext: AnalysisContext,
): Promise<JudgeInput> {
  const { file } = readApprovals(deps.stateDir);
  const policy = effectivePolicy({ security: route.security, ask: route.ask }, file, call.agent);
  const analysis = await analyze(args.command, analysisContext);
  return { analysis, policy, safeBins: settings.safeBins ?? defaultSafeBins, home: deps.home };
}

function denied(judgment: Judgment, input: JudgeInput, { call }: ExecRequest, fix?: string): ToolError {
  const { code, reason, unmatched } = judgment;
  const { security, ask, sources } = input.policy;
  return new ToolError("exec.denied", `exec denied on host=gateway: ${reason}`, {
    hint: fix ?? denialHint(judgment, input, call.agent),
    details: { refused: true, rule: code, reason, host: "gateway", security, ask, sources, unmatched },
  });
}

async function startShell(
  deps: ExecDeps,
  { args, timeoutMs }: ExecRequest,
  { cwd, path }: AnalysisContext,
  guard?: PlanStart["guard"],
): Promise<Running> {
  const tty = args.pty === true;
  const env = childEnvironment({ gateway: deps.env, call: args.env ?? {}, path, tty });
  const pipeline = [{ launch: { argv: [deps.shell(), "-c", args.command], cwd, env } }];
  return startWith(deps, { pipeline, tty, hasInput: wantsInput(args), timeoutMs, guard });
}

function hostFolder(workdir: string | undefined, workspace: string, home: string): string {
  const wanted = workdir === undefined || workdir.trim() === "" ? workspace : workdir;
  const path = resolve(workspace, /^~(?:\/|$)/.test(wanted) ? expandHome(wanted, home) : wanted);
  // The workspace is created on first use.
  if (path === workspace) mkdirSync(workspace, { recursive: true });
  const stats = path.includes("\0") ? undefined : statOf(path);
  if (stats?.isDirectory() === true) return path;
  throw new ToolError("exec.bad-folder", `folder not found: ${visible(path)}`, {
    hint: "set workdir to an existing folder, or omit it",
  });
}
