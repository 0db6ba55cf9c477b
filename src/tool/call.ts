// The only place where a tool runs: find, decide, check, journal the intent, run, bound, journal the outcome.
import { OpenClawError, ToolError } from "../core/error.ts";
import type { SessionKey } from "../core/names.ts";
import { isRecord } from "../core/record.ts";
import { checker, type Checker } from "../core/schema.ts";
import { visible } from "../core/visible.ts";
import { newId } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import { descriptorLimit } from "../base/descriptors.ts";
import type { Log } from "../base/log.ts";
import type { Mask } from "../base/mask.ts";
import { redactValues } from "../base/redact-values.ts";
import type { Config } from "../config/schema/index.ts";
import type { JournalEntry, JournalTable } from "../store/store.ts";
import { badArguments } from "./argument-errors.ts";
import { boundArguments, prepareArguments } from "./arguments.ts";
import { boundResult } from "./bound.ts";
import { type Catalog, delegateOf, isOffered, type Verdict } from "./catalog.ts";
import { subjectOf, type Subject } from "./subject.ts";
import type { Asker, CallClient, CallHints, Intent, Tool, ToolCall, ToolResult } from "./tool.ts";

export interface CallRequest {
  readonly tool: string;
  readonly args: unknown;
  readonly subject: Subject;
  /** Where the call came from: `http`, `ws:<client>`, `cli`, `agent` … */
  readonly caller: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly hints?: CallHints;
  /** The run it belongs to; without one, the call is its own turn. */
  readonly turn?: string;
  /** The caller commits the result itself, right after. Writes keep their order, so the call need not wait for its journal entry. */
  readonly commitsResult?: boolean;
  progress?(partial: ToolResult): void;
  /** The calling program, where a tool may ask it back. */
  readonly client?: CallClient;
}

export interface CallDeps {
  readonly catalog: Catalog;
  readonly journal: JournalTable;
  readonly mask: Mask;
  readonly log: Log;
  readonly clock: Clock;
  /** Throws `sandbox.*` when a sandboxed session has no sandbox to work in. Left out: there is none. */
  readonly requireSandbox?: (subject: Subject) => Promise<void>;
  /** Renames paths of this machine in a text for a sandboxed session, as it knows them. Left out: nothing is renamed. */
  readonly insideNames?: (subject: Subject) => (text: string) => string;
  /** The id of a session's record; undefined when there is no such session. Left out: sessions are not recorded. */
  readonly sessionId?: (session: SessionKey) => Promise<string | undefined>;
}

export type CallTool = (request: CallRequest) => Promise<ToolResult>;

const DEFAULT_TIMEOUT_MS = 30 * 60_000;

/** Throws ToolError `tool.unknown`, `tool.refused`, `tool.unavailable`, `tool.bad-arguments`, `tool.timeout`, or what the tool threw. */
export function createCallTool(deps: CallDeps): CallTool {
  const checkers = new WeakMap<Tool, Checker<unknown>>();
  const checkerOf = (tool: Tool): Checker<unknown> => {
    const known = checkers.get(tool);
    if (known !== undefined) return known;
    const made = checker(tool.params) as Checker<unknown>;
    checkers.set(tool, made);
    return made;
  };

  return async function callTool(asked) {
    const unknown = deps.catalog.prepare(asked.tool);
    if (unknown !== undefined) await unknown;
    const { request, verdict } = delegated(asked, deps.catalog);
    const record = openRecord(request, deps);
    const shown = (): Mask => maskFor(request.subject, deps);
    try {
      record.decided(verdict);
      const problem = verdict.tool === undefined ? deps.catalog.problem(request.tool) : undefined;
      if (problem !== undefined) throw problem;
      const tool = admit(verdict, request);
      const args = checkArguments(tool, checkerOf(tool), request.args);
      const result = await withDeadline(request, (signal) => runTool(tool, args, signal, request, deps, record));
      await settled(record.ended("ok"), request);
      return boundResult(result, tool.verbatim === true ? deps.mask : shown());
    } catch (error) {
      await settled(record.ended(outcomeOf(error), error), request);
      throw masked(error, { ...deps, mask: shown() }, record.id);
    }
  };
}

/** A call that is for another tool, as a call of that tool; the same call when its own tool may not be used. */
function delegated(asked: CallRequest, catalog: Catalog): { request: CallRequest; verdict: Verdict } {
  const verdict = catalog.judge(asked.subject, asked.tool);
  if (verdict.tool?.delegate === undefined || !isOffered(verdict)) return { request: asked, verdict };
  const request = { ...asked, ...delegateOf(verdict.tool, asked.args) };
  return { request, verdict: catalog.judge(request.subject, request.tool) };
}

/** Without secrets and, for a sandboxed session, without paths that its sandbox hides. */
function maskFor(subject: Subject, { mask, insideNames }: CallDeps): Mask {
  if (!subject.sandboxed || insideNames === undefined) return mask;
  const rename = insideNames(subject);
  return Object.assign((text: string) => rename(mask(text)), {
    command: (text: string) => rename(mask.command(text)),
    know: mask.know,
    learn: mask.learn,
    unfinished: mask.unfinished,
  });
}

/** `record.ended` never rejects, so a write that is not awaited cannot end the process. */
async function settled(noted: Promise<void>, { commitsResult = false }: CallRequest): Promise<void> {
  if (!commitsResult) await noted;
}

/** `asker` is what the call's `asker()` returned, as it was stored. */
export type RecallTool = (asker: unknown) => Promise<ToolCall>;

/** Judges an earlier call again under the rules in force. Throws what a fresh call would, and `session.gone`. */
export function createRecallTool(deps: CallDeps & { readonly config: () => Config }): RecallTool {
  return async function recallTool(stored) {
    if (!isRecord(stored)) throw new ToolError("approval.changed", "who asked for this is not known; ask again");
    const asker = stored as unknown as Asker;
    const { tool, agent: agentId, session: sessionKey, sessionId, model, group, limits, turn, hints } = asker;
    const now = subjectOf({ sessionKey, agentId, model }, deps.config());
    const subject: Subject = { ...now, group, ...(limits === undefined ? {} : { limits }) };
    if (sessionId !== undefined && (await deps.sessionId?.(subject.session)) !== sessionId)
      throw new ToolError("session.gone", `session ${subject.session} was deleted or reset since this was asked`);
    const request: CallRequest = { tool, args: {}, subject, caller: "approval", hints, turn };
    admit(deps.catalog.judge(subject, tool), request);
    return callOf(request, turn, new AbortController().signal, deps);
  };
}

function admit(verdict: Verdict, request: CallRequest): Tool {
  const { decision, tool, unavailable } = verdict;
  if (!decision.allowed) {
    const known = decision.layers[0]?.layer !== "known" || decision.layers[0]?.verdict === "pass";
    const why = decision.decidedBy?.reason ?? "no rule allows it";
    throw new ToolError(known ? "tool.refused" : "tool.unknown", `${visible(request.tool, 100)}: ${why}`, {
      hint: decision.fix?.command ?? decision.fix?.summary,
      details: { decision, explain: verdict.explain() },
    });
  }
  if (tool === undefined || unavailable !== undefined) {
    const { reason, fix } = unavailable ?? { reason: "this build does not have it yet", fix: "openclaw tools list" };
    throw new ToolError("tool.unavailable", `${request.tool} is not available: ${reason}`, {
      hint: fix,
      details: { decision, explain: verdict.explain() },
    });
  }
  return tool;
}

function checkArguments(tool: Tool, check: Checker<unknown>, raw: unknown): Record<string, unknown> {
  const args = prepareArguments(tool, boundArguments(raw));
  const issues = check.issues(args);
  if (issues.length === 0) return args;
  throw badArguments(tool, args, issues);
}

async function runTool(
  tool: Tool,
  args: Record<string, unknown>,
  signal: AbortSignal,
  request: CallRequest,
  deps: CallDeps,
  record: CallRecord,
): Promise<ToolResult> {
  const call = callOf(request, record.id, signal, deps);
  const intent = tool.intent(args, call);
  await requireSandbox(intent, request.subject, deps);
  await record.intends(intent, unrecorded(args, tool));
  return tool.run(args, call);
}

function callOf(request: CallRequest, id: string, signal: AbortSignal, deps: CallDeps): ToolCall {
  const { subject, hints = {}, turn = id } = request;
  return {
    id,
    turn,
    agent: subject.agent,
    session: subject.session,
    ...deps.catalog.surroundings(subject),
    sandboxed: subject.sandboxed,
    subagent: subject.subagent,
    senderIds: subject.group?.senderIds ?? [],
    hints,
    async asker() {
      const { agent, session, model, group, limits } = subject;
      const sessionId = await deps.sessionId?.(session);
      return { tool: request.tool, agent, session, sessionId, turn, model, group, limits, hints };
    },
    allows: (tool) => isOffered(deps.catalog.judge(subject, tool)),
    offers: () => deps.catalog.offered(subject).map(({ name }) => name),
    signal,
    progress: (partial) => request.progress?.(boundResult(partial, deps.mask)),
    client: request.client,
  };
}

function unrecorded(args: Record<string, unknown>, { unrecorded: names = [] }: Tool): Record<string, unknown> {
  const hidden = names.filter((name) => args[name] !== undefined);
  if (hidden.length === 0) return args;
  const lengths = hidden.map((name) => [name, `(${JSON.stringify(args[name]).length} characters, not recorded)`]);
  return { ...args, ...Object.fromEntries(lengths) };
}

/** A sandboxed session never falls back to the host (docs/decisions/0010-sandbox-backends.md). */
async function requireSandbox(intent: Intent, subject: Subject, deps: CallDeps): Promise<void> {
  const { sandboxed, agent } = subject;
  const needsOne =
    intent.does === "read" || intent.does === "write" || (intent.does === "run" && intent.host === "sandbox");
  if (!sandboxed || !needsOne) return;
  if (deps.requireSandbox !== undefined) return deps.requireSandbox(subject);
  throw new ToolError(
    "sandbox.unavailable",
    `agent ${agent} is sandboxed here, and this build has no sandbox to run it in`,
    {
      hint: "openclaw config set agents.defaults.sandbox.mode off",
    },
  );
}

/** Ends at the deadline or on abort, even if the tool ignores its signal. */
async function withDeadline(
  request: CallRequest,
  work: (signal: AbortSignal) => Promise<ToolResult>,
): Promise<ToolResult> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, signal: outer } = request;
  const control = new AbortController();
  const { promise: ended, reject: end } = Promise.withResolvers<never>();
  const stop = (error: ToolError): void => {
    control.abort(error);
    end(error);
  };
  const onAbort = (): void => stop(new ToolError("tool.aborted", `${request.tool} was stopped by its caller`));
  if (outer?.aborted === true) throw new ToolError("tool.aborted", `${request.tool} was stopped before it started`);
  outer?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(
    () => stop(new ToolError("tool.timeout", `${request.tool} did not finish within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  try {
    return await Promise.race([work(control.signal), ended]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", onAbort);
  }
}

interface CallRecord {
  readonly id: string;
  decided(verdict: Verdict): void;
  intends(intent: Intent, args: Record<string, unknown>): Promise<void>;
  ended(outcome: JournalEntry["outcome"], error?: unknown): Promise<void>;
}

/** Calls with effects are in the journal before they run; calls that only read are recorded once, afterwards. */
function openRecord(request: CallRequest, { journal, clock, mask, log }: CallDeps): CallRecord {
  const id = newId();
  const { subject } = request;
  const started = clock.ticks();
  let entry: JournalEntry = {
    id,
    at: clock.now(),
    tool: mask(request.tool.slice(0, 100)),
    agentId: subject.agent,
    sessionKey: subject.session,
    caller: request.caller,
    turn: request.turn ?? id,
    outcome: "started",
  };
  let durable = false;
  return {
    id,
    decided(verdict) {
      // A refusal can quote the name that the caller sent, which may contain a secret.
      const { summary, decision } = verdict;
      entry = { ...entry, decision: decision.allowed ? summary : maskedValue(summary, mask) };
    },
    async intends(intent, args) {
      entry = {
        ...entry,
        intent: intent.does === "look" ? intent : redactValues(intent, mask),
        args: shortened(args, mask),
      };
      durable = intent.does !== "look" && intent.does !== "read";
      if (durable) await journal.record(entry, { durable });
    },
    async ended(outcome, error) {
      const failure = error === undefined ? {} : { error: failureOf(error, mask) };
      entry = {
        ...entry,
        outcome: durable && outcome === "aborted" ? "unknown" : outcome,
        durationMs: clock.ticks() - started,
        ...failure,
      };
      if (outcome !== "ok")
        log.debug(`${request.tool} ${outcome}`, { caller: request.caller, session: subject.session, ...failure });
      // A full disk must not turn a completed call into a failed one; its start is in the journal.
      await journal
        .record(entry, { durable, joinsNext: !durable && request.commitsResult === true })
        .catch((cause: unknown) =>
          log.error("the outcome of a call could not be journaled", { error: cause, tool: entry.tool }),
        );
    },
  };
}

function outcomeOf(error: unknown): JournalEntry["outcome"] {
  if (!(error instanceof OpenClawError)) return "error";
  if (error.code === "tool.aborted" || error.code === "tool.timeout") return "aborted";
  return refusals.has(error.code) || isRefusal(error.details) ? "refused" : "error";
}

const refusals: ReadonlySet<string> = new Set([
  "tool.refused",
  "tool.unknown",
  "tool.unavailable",
  "sandbox.unavailable",
]);

/** A tool that refuses a call by its own rule sets `refused` in the details. */
function isRefusal(details: unknown): boolean {
  return typeof details === "object" && details !== null && "refused" in details && details.refused === true;
}

/** An unexpected error is a bug: the caller gets a reference, the log gets everything. */
function masked(error: unknown, { log, mask }: CallDeps, id: string): OpenClawError {
  const limit = descriptorLimit(error);
  if (limit !== undefined)
    return new ToolError("tool.no-descriptors", limit.message, { hint: limit.hint, cause: error });
  if (error instanceof OpenClawError) {
    const { code, hint, details, cause } = error;
    return new ToolError(code, mask(error.message), {
      hint: hint === undefined ? undefined : mask(hint),
      // Details can quote the caller or a command, and so a secret.
      details: details === undefined ? undefined : maskedValue(details, mask),
      cause,
    });
  }
  log.error(`unexpected failure in a tool call (reference ${id.slice(0, 8)})`, { error });
  return new ToolError("tool.bug", `the tool failed unexpectedly (reference ${id.slice(0, 8)})`, {
    hint: "openclaw logs",
    cause: error,
  });
}

function failureOf(error: unknown, mask: Mask): { code: string; message: string } {
  const code = error instanceof OpenClawError ? error.code : "tool.bug";
  return { code, message: mask.command(error instanceof Error ? error.message : String(error)).slice(0, 2000) };
}

function maskedValue(value: unknown, mask: Mask): unknown {
  return JSON.parse(mask(JSON.stringify(value))) as unknown;
}

const MAX_ARGUMENT_CHARS = 500;
/** Longer than a secret in any encoding, because a mask does not recognize half of one. */
const MARGIN_CHARS = 16_384;

function shortened(args: Record<string, unknown>, mask: Mask): unknown {
  const brief = (hide: (text: string) => string) => (text: string) => {
    const shown = hide(text.slice(0, MAX_ARGUMENT_CHARS + MARGIN_CHARS));
    if (text.length <= MAX_ARGUMENT_CHARS) return shown;
    return `${shown.slice(0, MAX_ARGUMENT_CHARS).toWellFormed()}… (${text.length} characters)`;
  };
  return redactValues(args, Object.assign(brief(mask), { command: brief(mask.command) }));
}
