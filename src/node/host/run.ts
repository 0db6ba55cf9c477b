// `system.run` on a node: applies its approvals file and the gateway's approval, starts the command and returns its
// output.
import { join, resolve } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { redactCommand } from "../../base/command-secrets.ts";
import type { Log } from "../../base/log.ts";
import { expandHome, type Env } from "../../base/paths.ts";
import { alwaysCovers } from "../../exec/policy/always.ts";
import { planHash } from "../../exec/policy/freeze.ts";
import type { EntryRef } from "../../exec/policy/effective.ts";
import { judgeUnguarded } from "../../exec/policy/decide.ts";
import type { Plan } from "../../exec/policy/plan.ts";
import { addEntries } from "../../exec/policy/remember.ts";
import { canonicalPath, isWithin } from "../../exec/sandbox/hidden-paths.ts";
import { entriesOf } from "../../exec/sandbox/inherited-fds.ts";
import { childEnvironment } from "../../exec/environment.ts";
import { rejectGatewayFolder, type Guard } from "../../exec/guard.ts";
import type { GuardedPaths } from "../../exec/guard/guarded-paths.ts";
import type { Exit, Running, StartRun } from "../../exec/running.ts";
import { startPinned, startPlan, type PlanStart } from "../../exec/start-plan.ts";
import { createConsents, type Consents } from "./consents.ts";
import { callEnvironment } from "./environment.ts";
import { exactArgv, folderOf, judgeRun, type ResolvedRun, type Verdict } from "./judge-run.ts";
import { parseRun } from "./run-request.ts";

export interface RunDeps {
  readonly start: StartRun;
  readonly nodeId: string;
  readonly stateDir: string;
  readonly home: string;
  /** The node's own environment; commands inherit a small part of it. */
  readonly env: Env;
  /** The folders of the node's PATH. */
  readonly path: readonly string[];
  readonly guarded: readonly string[];
  readonly guard: Guard;
  readonly guardedPaths: () => GuardedPaths;
  readonly platform: NodeJS.Platform;
  readonly log: Log;
  noteUse(matched: readonly EntryRef[], plan: Plan): void;
}

export interface RunCall {
  /** When the caller stops waiting. */
  readonly deadlineMs: number | undefined;
  /** Aborts when the request is canceled; the command is then ended. */
  readonly signal: AbortSignal;
  /** Reports the run to the gateway, if it belongs to a session. */
  readonly report: (event: "exec.started" | "exec.finished" | "exec.denied", payload: Record<string, unknown>) => void;
}

export interface RunPayload {
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: string | null;
  /** Set when the beginning was cut off. */
  readonly truncated?: true;
  /** Parts of the request that were ignored. */
  readonly notes?: readonly string[];
}

/** What would run, reported before the question. */
export interface Prepared {
  /** Returned with the approval; the command must still match it, also after the node restarted. */
  readonly frozen: string;
  readonly cwd: string;
  readonly programs: readonly string[];
}

export interface SystemRun {
  run(params: unknown, call: RunCall): Promise<RunPayload>;
  prepare(params: unknown): Promise<Prepared>;
}

/** Per stream; longer output keeps its end, where errors usually are. */
const MAX_CHARS = 200_000;
const MAX_EVENT_CHARS = 20_000;
const MAX_AT_ONCE = 64;

export function createSystemRun(deps: RunDeps): SystemRun {
  const consents = createConsents();
  let live = 0;
  return {
    async run(params, call) {
      const { resolved, notes } = resolveRun(params, deps);
      if (live >= MAX_AT_ONCE)
        throw new OpenClawError("node-host.busy", `this node already runs ${MAX_AT_ONCE} commands`);
      live += 1;
      try {
        const running = await startAllowed(deps, resolved, consents, call);
        return await awaitEnd(running, resolved, notes, call);
      } finally {
        live -= 1;
      }
    },
    async prepare(params) {
      const { resolved } = resolveRun(params, deps);
      const { judgment, plan } = await judgeRun(resolved, deps.stateDir, true);
      requireNotDenied(judgment);
      const made = plan("content");
      return {
        frozen: planHash(made),
        cwd: made.cwd.path,
        programs: made.segments.map(({ program }) => program.path),
      };
    },
  };
}

function resolveRun(
  params: unknown,
  deps: RunDeps,
): { readonly resolved: ResolvedRun; readonly notes: readonly string[] } {
  const request = parseRun(params, deps.nodeId);
  const { env, prefix, notes } = callEnvironment(request.env, deps.path.join(":"), deps.platform);
  const cwd = folderOf(expandFolder(request.cwd ?? deps.home, deps.home));
  rejectGatewayFolder(cwd, guardedPathsFor(deps, cwd));
  const { home, guarded } = deps;
  const context = { cwd, workspace: cwd, home, path: [...prefix, ...deps.path], guarded };
  return { resolved: { ...request, env, context, prefix }, notes };
}

/** Relative folders start at the home folder. */
function expandFolder(wanted: string, home: string): string {
  return wanted === "~" || wanted.startsWith("~/") ? expandHome(wanted, home) : resolve(home, wanted);
}

async function startAllowed(deps: RunDeps, resolved: ResolvedRun, consents: Consents, call: RunCall): Promise<Running> {
  const { runId, agent, session } = resolved;
  const command = shownOf(resolved);
  try {
    const verdict = await guardedVerdict(
      deps,
      resolved,
      await judgeRun(resolved, deps.stateDir, resolved.consent?.frozen !== undefined),
    );
    requireAllowed(verdict, resolved, consents);
    call.signal.throwIfAborted();
    const { outcome, code } = verdict.judgment;
    const why = outcome === "run" ? code : `approved (${resolved.consent?.approvalId ?? ""})`;
    deps.log.info("runs a command", { runId, agent, command, why });
    const running = await start(deps, resolved, verdict, consents, timeLimit(resolved.timeoutMs, call.deadlineMs));
    await running.closeInput();
    call.report("exec.started", factsOf(resolved));
    return running;
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    const reason = error.message.replace(/^SYSTEM_RUN_(?:DENIED|DISABLED): /, "");
    deps.log.warn("does not run a command", { runId, agent, session, command, reason });
    call.report("exec.denied", { ...factsOf(resolved), reason });
    throw error;
  }
}

/** Where the node's files cannot be hidden, a command allowed by the list alone needs approval. */
async function guardedVerdict(deps: RunDeps, { context }: ResolvedRun, verdict: Verdict): Promise<Verdict> {
  const { outcome, code } = verdict.judgment;
  if (outcome !== "run" || code !== "exec.allowed") return verdict;
  const guard = await deps.guard.works(guardedPathsFor(deps, context.cwd));
  if (guard.works) return verdict;
  return { ...verdict, judgment: judgeUnguarded(verdict.judgment, `${guard.reason} (fix: ${guard.fix})`, true) };
}

/**
 * A node has no workspace; the workspace of a gateway with the same state folder stays accessible to commands in it.
 */
function guardedPathsFor(deps: RunDeps, cwd: string): GuardedPaths {
  const guardedPaths = deps.guardedPaths();
  const [state, real] = [canonicalPath(guardedPaths.state), canonicalPath(cwd)];
  const workspace = entriesOf(state)
    .filter((name) => /^workspace(?:$|-)/.test(name))
    .map((name) => join(state, name))
    .find((path) => isWithin(real, path));
  return workspace === undefined ? guardedPaths : { ...guardedPaths, workspace };
}

/** A deny in the file overrides every approval. Gateways and published clients match on these messages. */
function requireAllowed({ judgment, plan }: Verdict, { runId, consent }: ResolvedRun, consents: Consents): void {
  requireNotDenied(judgment);
  if (consent !== undefined) return consents.spend(consent.approvalId);
  if (judgment.outcome === "run") return;
  if (judgment.outcome === "deny") throw new OpenClawError("node-host.denied", "SYSTEM_RUN_DENIED: allowlist miss");
  // Freezes what the owner will be asked about; the command must still match it when it runs.
  consents.freeze(runId, plan("content"));
  throw new OpenClawError("node-host.denied", "SYSTEM_RUN_DENIED: approval required");
}

function requireNotDenied({ code, reason }: Verdict["judgment"]): void {
  if (code === "exec.denied") throw new OpenClawError("node-host.denied", `SYSTEM_RUN_DISABLED: ${reason}`);
}

async function start(
  deps: RunDeps,
  resolved: ResolvedRun,
  { judgment, isFull, plan: planFor }: Verdict,
  consents: Consents,
  timeoutMs: number | undefined,
): Promise<Running> {
  if (isFull) return startArgv(deps, resolved, timeoutMs);
  // A separate folder, because a gateway with the same state folder clears its own.
  const startDeps = { start: deps.start, env: deps.env, stateDir: join(deps.stateDir, "node") };
  const options = { tty: false, hasInput: false, timeoutMs, errorsApart: true };
  if (judgment.outcome === "run" && judgment.code === "exec.allowed" && resolved.consent?.frozen === undefined) {
    const plan = planFor("identity");
    const guardedPaths = guardedPathsFor(deps, resolved.context.cwd);
    rejectGatewayFolder(plan.cwd.path, guardedPaths);
    const guard: PlanStart["guard"] = (launch) => deps.guard.wrap(launch, guardedPaths);
    const running = await startPlan(startDeps, plan, { ...options, more: judgment.env, guard });
    deps.noteUse(judgment.matched, plan);
    return running;
  }
  const plan = planFor("content");
  consents.compare(resolved.runId, plan, resolved.consent?.frozen);
  const isForGood = resolved.consent?.always === true && resolved.agent !== "*";
  const remembered = isForGood ? addEntries(deps.stateDir, resolved.agent, alwaysCovers(plan).entries) : [];
  const running = await startPinned(startDeps, plan, options);
  deps.noteUse(remembered, plan);
  return running;
}

async function startArgv(deps: RunDeps, resolved: ResolvedRun, timeoutMs: number | undefined): Promise<Running> {
  const { argv, env: more } = exactArgv(resolved);
  const env = { ...childEnvironment({ gateway: deps.env, call: resolved.env, path: resolved.context.path }), ...more };
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  return deps.start({ pipeline: [{ launch: { argv, cwd: resolved.context.cwd, env } }], errorsApart: true, ...limit });
}

/** Applied when the caller does not cancel the request by itself. */
const DEADLINE_GRACE_MS = 5000;

/** Ends a command soon after its caller stopped waiting. */
function timeLimit(own: number | undefined, deadlineMs: number | undefined): number | undefined {
  const limits = [own ?? 0, deadlineMs === undefined || deadlineMs === 0 ? 0 : deadlineMs + DEADLINE_GRACE_MS];
  const shortest = Math.min(...limits.map((limit) => (limit > 0 ? limit : Infinity)));
  return shortest === Infinity ? undefined : shortest;
}

async function awaitEnd(
  running: Running,
  resolved: ResolvedRun,
  notes: readonly string[],
  { signal, report }: RunCall,
): Promise<RunPayload> {
  const stop = (): void => void running.end("aborted");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const exit = await running.ended.finally(() => signal.removeEventListener("abort", stop));
  const payload = payloadOf(running, exit, notes);
  await Promise.all([running.output.discard(), running.errors?.discard()]);
  const { stdout, stderr, exitCode, timedOut, success } = payload;
  report("exec.finished", { ...factsOf(resolved), exitCode, timedOut, success, output: endOf(`${stdout}${stderr}`) });
  return payload;
}

function payloadOf({ output, errors }: Running, { code, signal, reason }: Exit, notes: readonly string[]): RunPayload {
  const isCut = output.totalChars > MAX_CHARS || (errors?.totalChars ?? 0) > MAX_CHARS;
  const ended = reason === undefined || reason === "timeout" ? undefined : `ended: ${reason}`;
  return {
    ...(code === null ? {} : { exitCode: code }),
    timedOut: reason === "timeout",
    success: code === 0 && reason === undefined,
    stdout: output.tail(MAX_CHARS),
    stderr: errors?.tail(MAX_CHARS) ?? "",
    error: ended ?? (code === null && reason === undefined ? `ended by signal ${signal ?? "unknown"}` : null),
    ...(isCut ? { truncated: true } : {}),
    ...(notes.length === 0 ? {} : { notes }),
  };
}

function factsOf(resolved: ResolvedRun): Record<string, unknown> {
  return { sessionKey: resolved.session, runId: resolved.runId, host: "node", command: shownOf(resolved) };
}

/** Shortened and redacted for logs and events, since a request may hold megabytes and secrets. */
function shownOf({ text }: ResolvedRun): string {
  return redactCommand(text.slice(0, 20_000)).slice(0, 2000).toWellFormed();
}

function endOf(text: string): string {
  return text.length <= MAX_EVENT_CHARS
    ? text
    : `[… output truncated: only the end is shown]\n${text.slice(-MAX_EVENT_CHARS).toWellFormed()}`;
}
