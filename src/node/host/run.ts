// `system.run` on a node: the rules of its own file, the gateway's yes, the start, the end of all of it, and what came out.
import { join, resolve } from "node:path";

import { OpenClawError } from "../../core/error.ts";
import { hideCommandSecrets } from "../../base/command-secrets.ts";
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
import { requireOwnFolder, type Guard } from "../../exec/guard.ts";
import type { GuardPlaces } from "../../exec/guard/places.ts";
import type { Exit, Running, StartRun } from "../../exec/running.ts";
import { startPinned, startPlan, type PlanStart } from "../../exec/start-plan.ts";
import { createConsents, type Consents } from "./consents.ts";
import { callEnvironment } from "./environment.ts";
import { exactWords, folderOf, judgeRun, type Job, type Verdict } from "./rules.ts";
import { parseRun } from "./run-request.ts";

export interface RunDeps {
  readonly start: StartRun;
  readonly nodeId: string;
  readonly stateDir: string;
  readonly home: string;
  /** The node's own environment; commands get a small part of it. */
  readonly env: Env;
  /** Folders of the node's own PATH. */
  readonly path: readonly string[];
  readonly guarded: readonly string[];
  readonly guard: Guard;
  readonly places: () => GuardPlaces;
  readonly platform: NodeJS.Platform;
  readonly log: Log;
  noteUse(matched: readonly EntryRef[], plan: Plan): void;
}

export interface RunCall {
  /** When whoever asked stops waiting. */
  readonly deadlineMs: number | undefined;
  /** Nobody waits any more: what runs is ended. */
  readonly signal: AbortSignal;
  /** Tells the gateway about the run, where a session is to know. */
  readonly report: (event: "exec.started" | "exec.finished" | "exec.denied", payload: Record<string, unknown>) => void;
}

export interface RunPayload {
  readonly exitCode?: number;
  readonly timedOut: boolean;
  readonly success: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: string | null;
  /** There when the beginning was left out. */
  readonly truncated?: true;
  /** What of the request was not followed. */
  readonly notes?: readonly string[];
}

/** What would run, before anybody is asked about it. */
export interface Prepared {
  /** Comes back with the yes: what then runs must still be that, also after a restart of the node. */
  readonly frozen: string;
  readonly cwd: string;
  readonly programs: readonly string[];
}

export interface SystemRun {
  run(params: unknown, call: RunCall): Promise<RunPayload>;
  prepare(params: unknown): Promise<Prepared>;
}

/** Of each stream; the end is kept, since that is where errors stand. */
const MAX_CHARS = 200_000;
const MAX_EVENT_CHARS = 20_000;
const MAX_AT_ONCE = 64;

export function createSystemRun(deps: RunDeps): SystemRun {
  const consents = createConsents();
  let live = 0;
  return {
    async run(params, call) {
      const { job, notes } = jobIn(params, deps);
      if (live >= MAX_AT_ONCE)
        throw new OpenClawError("node-host.busy", `this node runs ${MAX_AT_ONCE} commands already`);
      live += 1;
      try {
        const running = await startAllowed(deps, job, consents, call);
        return await followed(running, job, notes, call);
      } finally {
        live -= 1;
      }
    },
    async prepare(params) {
      const { job } = jobIn(params, deps);
      const { judgement, plan } = await judgeRun(job, deps.stateDir, true);
      requireNotDenied(judgement);
      const made = plan("content");
      return {
        frozen: planHash(made),
        cwd: made.cwd.path,
        programs: made.segments.map(({ program }) => program.path),
      };
    },
  };
}

function jobIn(params: unknown, deps: RunDeps): { readonly job: Job; readonly notes: readonly string[] } {
  const request = parseRun(params, deps.nodeId);
  const { env, prefix, notes } = callEnvironment(request.env, deps.path.join(":"), deps.platform);
  const cwd = folderOf(folderIn(request.cwd ?? deps.home, deps.home));
  requireOwnFolder(cwd, placesOf(deps, cwd));
  const { home, guarded } = deps;
  const place = { cwd, workspace: cwd, home, path: [...prefix, ...deps.path], guarded };
  return { job: { ...request, env, place, prefix }, notes };
}

/** Relative folders begin at home. */
function folderIn(wanted: string, home: string): string {
  return wanted === "~" || wanted.startsWith("~/") ? expandHome(wanted, home) : resolve(home, wanted);
}

async function startAllowed(deps: RunDeps, job: Job, consents: Consents, call: RunCall): Promise<Running> {
  const { runId, agent, session } = job;
  const command = shownOf(job);
  try {
    const verdict = await guardedVerdict(
      deps,
      job,
      await judgeRun(job, deps.stateDir, job.consent?.frozen !== undefined),
    );
    requireAllowed(verdict, job, consents);
    call.signal.throwIfAborted();
    const { outcome, code } = verdict.judgement;
    const why = outcome === "run" ? code : `approved (${job.consent?.approvalId ?? ""})`;
    deps.log.info("runs a command", { runId, agent, command, why });
    const running = await start(deps, job, verdict, consents, timeLimit(job.timeoutMs, call.deadlineMs));
    await running.closeInput();
    call.report("exec.started", factsOf(job));
    return running;
  } catch (error) {
    if (!(error instanceof OpenClawError)) throw error;
    const reason = error.message.replace(/^SYSTEM_RUN_(?:DENIED|DISABLED): /, "");
    deps.log.warn("does not run a command", { runId, agent, session, command, reason });
    call.report("exec.denied", { ...factsOf(job), reason });
    throw error;
  }
}

/** What would run by a list alone is for a person to decide where the node's own files cannot be hidden from it. */
async function guardedVerdict(deps: RunDeps, { place }: Job, verdict: Verdict): Promise<Verdict> {
  const { outcome, code } = verdict.judgement;
  if (outcome !== "run" || code !== "exec.allowed") return verdict;
  const guard = await deps.guard.works(placesOf(deps, place.cwd));
  if (guard.works) return verdict;
  return { ...verdict, judgement: judgeUnguarded(verdict.judgement, `${guard.reason} (fix: ${guard.fix})`, true) };
}

/** A node has no workspace of its own; that of a gateway with the same state folder stays open to commands in it. */
function placesOf(deps: RunDeps, cwd: string): GuardPlaces {
  const places = deps.places();
  const [state, real] = [canonicalPath(places.state), canonicalPath(cwd)];
  const workspace = entriesOf(state)
    .filter((name) => /^workspace(?:$|-)/.test(name))
    .map((name) => join(state, name))
    .find((path) => isWithin(real, path));
  return workspace === undefined ? places : { ...places, workspace };
}

/** The file's deny stands above every yes. The words are those that gateways and published clients know. */
function requireAllowed({ judgement, plan }: Verdict, { runId, consent }: Job, consents: Consents): void {
  requireNotDenied(judgement);
  if (consent !== undefined) return consents.spend(consent.approvalId);
  if (judgement.outcome === "run") return;
  if (judgement.outcome === "deny") throw new OpenClawError("node-host.denied", "SYSTEM_RUN_DENIED: allowlist miss");
  // What a person will be asked about, as it is now: what then runs must still be that.
  consents.freeze(runId, plan("content"));
  throw new OpenClawError("node-host.denied", "SYSTEM_RUN_DENIED: approval required");
}

function requireNotDenied({ code, reason }: Verdict["judgement"]): void {
  if (code === "exec.denied") throw new OpenClawError("node-host.denied", `SYSTEM_RUN_DISABLED: ${reason}`);
}

async function start(
  deps: RunDeps,
  job: Job,
  { judgement, isFull, plan: planFor }: Verdict,
  consents: Consents,
  timeoutMs: number | undefined,
): Promise<Running> {
  if (isFull) return startWords(deps, job, timeoutMs);
  // Its own folder for what is held open: a gateway on the same state clears its own.
  const room = { start: deps.start, env: deps.env, stateDir: join(deps.stateDir, "node") };
  const options = { tty: false, timeoutMs, errorsApart: true };
  if (judgement.outcome === "run" && judgement.code === "exec.allowed" && job.consent?.frozen === undefined) {
    const plan = planFor("place");
    const places = placesOf(deps, job.place.cwd);
    requireOwnFolder(plan.cwd.path, places);
    const guard: PlanStart["guard"] = (launch) => deps.guard.wrap(launch, places);
    const running = await startPlan(room, plan, { ...options, more: judgement.env, guard });
    deps.noteUse(judgement.matched, plan);
    return running;
  }
  const plan = planFor("content");
  consents.compare(job.runId, plan, job.consent?.frozen);
  const isForGood = job.consent?.always === true && job.agent !== "*";
  const remembered = isForGood ? addEntries(deps.stateDir, job.agent, alwaysCovers(plan).entries) : [];
  const running = await startPinned(room, plan, options);
  deps.noteUse(remembered, plan);
  return running;
}

async function startWords(deps: RunDeps, job: Job, timeoutMs: number | undefined): Promise<Running> {
  const { argv, env: more } = exactWords(job);
  const env = { ...childEnvironment({ gateway: deps.env, call: job.env, path: job.place.path }), ...more };
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  return deps.start({ pipeline: [{ launch: { argv, cwd: job.place.cwd, env } }], errorsApart: true, ...limit });
}

/** Whoever asked says when it stops waiting; where it does not, this does. */
const DEADLINE_GRACE_MS = 5000;

/** A command that outlives its asker would be nobody's. */
function timeLimit(own: number | undefined, deadlineMs: number | undefined): number | undefined {
  const limits = [own ?? 0, deadlineMs === undefined || deadlineMs === 0 ? 0 : deadlineMs + DEADLINE_GRACE_MS];
  const shortest = Math.min(...limits.map((limit) => (limit > 0 ? limit : Infinity)));
  return shortest === Infinity ? undefined : shortest;
}

async function followed(
  running: Running,
  job: Job,
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
  report("exec.finished", { ...factsOf(job), exitCode, timedOut, success, output: endOf(`${stdout}${stderr}`) });
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

function factsOf(job: Job): Record<string, unknown> {
  return { sessionKey: job.session, runId: job.runId, host: "node", command: shownOf(job) };
}

/** A request may hold megabytes of words, and secrets; a log or an event is for people. */
function shownOf({ text }: Job): string {
  return hideCommandSecrets(text.slice(0, 20_000)).slice(0, 2000).toWellFormed();
}

function endOf(text: string): string {
  return text.length <= MAX_EVENT_CHARS
    ? text
    : `[… the beginning was left out]\n${text.slice(-MAX_EVENT_CHARS).toWellFormed()}`;
}
