// One run from its first write to its outcome: commands first, then the model; whatever happens, one outcome.
import { HouseError } from "../core/error.ts";
import type { RunFailure, RunOutcome } from "../core/event.ts";
import type { UserMessage } from "../core/message.ts";
import { splitSessionKey, type AgentId } from "../core/names.ts";
import { defaultAgentId } from "../config/agents.ts";
import { newId } from "../base/ids.ts";
import { mergeTexts } from "../session/queue.ts";
import { isStale, resetRule } from "../session/reset.ts";
import { entryOf, newSession, resetSession } from "../session/session.ts";
import type { RunRecord, SessionRecord, TranscriptEntry } from "../store/store.ts";
import { Stop, type Job } from "./job.ts";
import type { Ledger } from "./ledger.ts";
import { DEFAULT_RUN_SECONDS } from "./limits.ts";
import type { RunBody } from "./recover.ts";
import { isSilent } from "./reply.ts";
import type { SessionSeat } from "./shrink.ts";
import type { Slots } from "./slots.ts";
import { runTurn, type TurnEnd, type TurnRoom } from "./turn.ts";
import { cacheHitRate, contextOf } from "./usage.ts";

export interface RunRoom extends TurnRoom {
  readonly ledger: Ledger;
}

export interface RunPlan {
  /** Told in one line each, because the queue was full. */
  readonly summarised: readonly Job[];
  readonly slots: Slots;
  /** Messages for this run that came while it was under way; those taken are merged into it. */
  readonly steer: () => readonly Job[];
}

/** Never throws. Ends the job and all merged into it, durably, with exactly one outcome each. */
export async function runJob(room: RunRoom, job: Job, plan: RunPlan): Promise<void> {
  const { deps } = room;
  const startedAt = deps.clock.now();
  const seat: SessionSeat = { record: newSession(job.turn.sessionKey, startedAt) };
  const timer = startTimer(room, job);
  try {
    await attempt(room, job, plan, seat, startedAt);
  } catch (error) {
    const stop = job.control.signal.aborted ? job.control.signal.reason : error;
    await conclude(room, job, seat, { startedAt, ...endOfError(stop, deps.log) });
  } finally {
    clearTimeout(timer);
  }
}

async function attempt(room: RunRoom, job: Job, plan: RunPlan, seat: SessionSeat, startedAt: number): Promise<void> {
  const { deps } = room;
  const { turn, control } = job;
  const { signal } = control;
  const agentId = agentOf(room, job);
  signal.throwIfAborted();
  seat.record = await freshSession(room, job, startedAt);

  job.stage = "directing";
  const context = {
    sessionKey: turn.sessionKey,
    agentId,
    runId: turn.runId,
    source: turn.source,
    authorised: turn.authorised,
    signal,
  };
  const directed = job.directed ?? (await deps.direct(turn.text, context));
  signal.throwIfAborted();
  if (directed.kind === "answered") {
    // A command may have changed the session, also its id.
    seat.record = (await deps.store.sessions.get(turn.sessionKey)) ?? seat.record;
    return concludeCommand(room, job, seat, startedAt, directed);
  }
  job.stage = "running";
  seat.record = (await deps.store.sessions.get(turn.sessionKey)) ?? seat.record;
  const release = await plan.slots.take(signal);
  try {
    job.emit({ stream: "lifecycle", phase: "start", startedAt });
    for (const text of directed.notes) job.emit({ stream: "notice", text });
    const texts = [directed.text, ...job.merged.map(({ text }) => text)];
    const images = [job, ...job.merged].flatMap(({ turn: { images: own = [] } }) => own);
    const taken: Job[] = [...job.merged, ...plan.summarised];
    const end = await runTurn(room, {
      turn,
      text: mergeTexts(
        texts,
        plan.summarised.map(({ text }) => text),
      ),
      images,
      once: directed.once,
      agentId,
      seat,
      signal,
      emit: job.emit,
      steer: () => takeSteered(room, job, plan, taken, seat, startedAt),
      open: () => openRun(room, job, seat, startedAt, taken),
    });
    job.merged.push(...plan.summarised);
    await conclude(room, job, seat, { startedAt, ...end });
  } finally {
    release();
  }
}

/** The row that says this run is under way, and the session it happens in. */
async function openRun(
  { deps }: RunRoom,
  job: Job,
  seat: SessionSeat,
  startedAt: number,
  taken: readonly Job[],
): Promise<void> {
  const { store } = deps;
  const { record } = seat;
  await Promise.all([
    store.runs.put(runRow(job, record, startedAt, taken)),
    store.sessions.update(record.key, (current) => ({ ...(current ?? record), updatedAt: startedAt })),
  ]);
}

function runRow(job: Job, record: SessionRecord, startedAt: number, taken: readonly Job[]): RunRecord {
  const body: RunBody = {
    sessionId: record.sessionId,
    merged: taken.map(({ turn }) => turn.runId),
    source: job.turn.source,
  };
  return { id: job.turn.runId, sessionKey: record.key, state: "running", startedAt, body };
}

function takeSteered(
  { deps }: RunRoom,
  job: Job,
  plan: RunPlan,
  taken: Job[],
  seat: SessionSeat,
  startedAt: number,
): UserMessage[] {
  const steered = plan.steer();
  if (steered.length === 0) return [];
  job.merged.push(...steered);
  taken.push(...steered);
  // Those letters are answered by this run from now on, also when it is cut off.
  deps.store.runs
    .put(runRow(job, seat.record, startedAt, taken))
    .catch((error: unknown) => deps.log.error("a steered message could not be noted", { error }));
  return steered.map(({ text, turn }) => ({
    role: "user",
    content: [{ type: "text", text }, ...(turn.images ?? [])],
    timestamp: deps.clock.now(),
  }));
}

/** The session as it stands, begun anew when its time is over. */
async function freshSession({ deps, histories }: RunRoom, { turn }: Job, now: number): Promise<SessionRecord> {
  const { store } = deps;
  const record = await store.sessions.get(turn.sessionKey);
  if (record === undefined) return newSession(turn.sessionKey, now);
  const rule = resetRule(deps.config(), turn.sessionKey, entryOf(record).channel);
  if (!isStale(rule, record.updatedAt, now)) return record;
  histories.forget(record.sessionId);
  return resetSession(store.sessions, turn.sessionKey, now);
}

function agentOf({ deps }: RunRoom, { turn }: Job): AgentId {
  const isShared = turn.sessionKey === "global" || turn.sessionKey === "unknown";
  return isShared ? defaultAgentId(deps.config()) : splitSessionKey(turn.sessionKey).agentId;
}

type End = Partial<TurnEnd> & {
  readonly startedAt: number;
  readonly status: RunOutcome["status"];
  readonly text: string;
};

/** The last writes share one commit: what was said, how it ended, what it cost. Only then is anybody told. */
async function conclude(room: RunRoom, job: Job, seat: SessionSeat, end: End): Promise<void> {
  const { deps } = room;
  const outcome = outcomeOf(room, job, seat, end);
  try {
    await Promise.all([end.settled, ...lastWrites(room, job, seat, end, outcome)]);
    deps.log.debug("run ended", factsOf(outcome));
    finish(job, outcome);
  } catch (error) {
    deps.log.error("the end of a run could not be written", { error, runId: job.turn.runId });
    finish(job, { ...outcome, status: "error", failure: failureOf(error, deps.log) });
  } finally {
    end.budget?.close();
  }
}

function lastWrites(
  { deps, ledger }: RunRoom,
  job: Job,
  seat: SessionSeat,
  end: End,
  outcome: RunOutcome,
): Promise<unknown>[] {
  const { store } = deps;
  const { runId, sessionKey, status, endedAt, startedAt, usage } = outcome;
  const state = status === "ok" ? "done" : "failed";
  const body: RunBody = {
    sessionId: outcome.sessionId,
    merged: job.merged.map(({ turn }) => turn.runId),
    source: job.turn.source,
  };
  const used = end.budget?.used();
  const { failure } = outcome;
  return [
    ...(failure === undefined || status !== "error"
      ? []
      : [store.transcript.append(outcome.sessionId, [failureEntry(failure, endedAt)])]),
    store.runs.put({ id: runId, sessionKey, state: status, startedAt, endedAt, body }),
    store.inbox.finish(runId, state, outcome),
    ...job.merged.map(({ turn }) => store.inbox.finish(turn.runId, state, mergedOutcome(outcome, turn.runId))),
    store.sessions.update(sessionKey, (current) => withOutcome(current ?? seat.record, end, outcome)),
    ...(usage === undefined || used === undefined
      ? []
      : [
          ledger.add({
            agentId: seat.record.agentId,
            sessionKey,
            provider: outcome.provider ?? "unknown",
            model: outcome.model ?? "unknown",
            usage: used,
            costUsd: used.costUsd,
            calls: used.calls,
            durationMs: endedAt - startedAt,
          }),
        ]),
  ];
}

/** The record says why there is no answer; no model reads it. */
function failureEntry({ code, message }: RunFailure, at: number): TranscriptEntry {
  return { id: newId(), type: "custom", at, body: { customType: "failure", code, message } };
}

function factsOf({
  runId,
  sessionKey,
  status,
  provider,
  model,
  usage,
  startedAt,
  endedAt,
  toolCalls,
}: RunOutcome): Record<string, unknown> {
  const cacheHit = usage === undefined ? undefined : cacheHitRate(usage);
  return { runId, sessionKey, status, provider, model, durationMs: endedAt - startedAt, toolCalls, cacheHit };
}

function withOutcome(record: SessionRecord, end: End, outcome: RunOutcome): SessionRecord {
  const { lastUsage, contextWindow, usage } = end;
  const { inputTokens = 0, outputTokens = 0 } = entryOf(record);
  return {
    ...record,
    updatedAt: outcome.endedAt,
    entry: {
      ...record.entry,
      systemSent: true,
      abortedLastRun: outcome.status === "aborted",
      ...(outcome.model === undefined ? {} : { modelProvider: outcome.provider, model: outcome.model }),
      ...(contextWindow === undefined ? {} : { contextTokens: contextWindow }),
      ...(lastUsage === undefined ? {} : { totalTokens: contextOf(lastUsage) }),
      ...(usage === undefined
        ? {}
        : { inputTokens: inputTokens + usage.input, outputTokens: outputTokens + usage.output }),
    },
  };
}

/** No run row and no message: a command leaves a note in the transcript and its answer with the letter. */
async function concludeCommand(
  room: RunRoom,
  job: Job,
  seat: SessionSeat,
  startedAt: number,
  { text, failure }: { readonly text: string; readonly failure?: RunFailure | undefined },
): Promise<void> {
  const { store, clock } = room.deps;
  const outcome = outcomeOf(room, job, seat, {
    startedAt,
    status: failure === undefined ? "ok" : "error",
    text,
    ...(failure === undefined ? {} : { failure }),
  });
  const note = { customType: "command", text: job.turn.text, answer: text };
  await Promise.all([
    store.transcript.append(seat.record.sessionId, [{ id: newId(), type: "custom", at: clock.now(), body: note }]),
    store.sessions.update(seat.record.key, (current) => current ?? seat.record),
    store.inbox.finish(job.turn.runId, failure === undefined ? "done" : "failed", outcome),
    ...job.merged.map(({ turn }) => store.inbox.finish(turn.runId, "done", mergedOutcome(outcome, turn.runId))),
  ]);
  finish(job, outcome);
}

function outcomeOf({ deps }: RunRoom, job: Job, seat: SessionSeat, end: End): RunOutcome {
  const { turn, control } = job;
  const stop = control.signal.aborted && control.signal.reason instanceof Stop ? control.signal.reason : undefined;
  const status = end.status === "aborted" ? (stop?.status ?? "aborted") : end.status;
  const failure = end.failure ?? (end.status === "aborted" ? stop?.failure : undefined);
  const silent = status === "ok" && (isSilent(end.text) || (end.text.trim() === "" && end.clientCalls === undefined));
  return {
    runId: turn.runId,
    sessionKey: turn.sessionKey,
    sessionId: seat.record.sessionId,
    status,
    startedAt: end.startedAt,
    endedAt: deps.clock.now(),
    text: silent ? "" : end.text,
    silent,
    ...(end.model === undefined ? {} : { provider: end.model.provider, model: end.model.id }),
    ...(end.usage === undefined ? {} : { usage: end.usage }),
    ...(end.budget === undefined ? {} : { costUsd: end.budget.used().costUsd }),
    toolCalls: end.toolCalls ?? 0,
    ...(end.clientCalls === undefined ? {} : { clientCalls: end.clientCalls }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** The answer is given once, under the run that carried it. */
function mergedOutcome(outcome: RunOutcome, runId: string): RunOutcome {
  const { usage: _usage, costUsd: _costUsd, ...rest } = outcome;
  return { ...rest, runId, silent: outcome.status === "ok" ? true : outcome.silent, toolCalls: 0 };
}

function finish(job: Job, outcome: RunOutcome): void {
  job.stage = "ended";
  job.emit({ stream: "lifecycle", phase: "end", outcome });
  job.end(outcome);
  for (const other of job.merged) {
    const its = mergedOutcome(outcome, other.turn.runId);
    other.stage = "ended";
    other.emit({ stream: "lifecycle", phase: "end", outcome: its });
    other.end(its);
  }
}

/** Ends a job that never ran. */
export async function dismiss(
  room: RunRoom,
  job: Job,
  status: "error" | "aborted",
  failure: RunFailure,
): Promise<void> {
  const now = room.deps.clock.now();
  const outcome: RunOutcome = {
    runId: job.turn.runId,
    sessionKey: job.turn.sessionKey,
    sessionId: (await room.deps.store.sessions.get(job.turn.sessionKey))?.sessionId ?? "",
    status,
    startedAt: now,
    endedAt: now,
    text: "",
    silent: false,
    toolCalls: 0,
    failure,
  };
  await room.deps.store.inbox.finish(job.turn.runId, "failed", outcome);
  finish(job, outcome);
}

function startTimer({ deps }: RunRoom, { turn, control }: Job): NodeJS.Timeout {
  const timeoutMs = turn.timeoutMs ?? (deps.config().agents?.defaults?.timeoutSeconds ?? DEFAULT_RUN_SECONDS) * 1000;
  const failure = {
    code: "run.timeout",
    message: `stopped: the run took longer than ${timeoutMs / 1000} s`,
    hint: "raise agents.defaults.timeoutSeconds",
  };
  return setTimeout(() => control.abort(new Stop("error", failure)), timeoutMs);
}

function endOfError(
  error: unknown,
  log: RunRoom["deps"]["log"],
): { status: RunOutcome["status"]; text: string; failure: RunFailure } {
  if (error instanceof Stop) return { status: error.status, text: "", failure: error.failure };
  return { status: "error", text: "", failure: failureOf(error, log) };
}

function failureOf(error: unknown, log: RunRoom["deps"]["log"]): RunFailure {
  if (error instanceof HouseError)
    return { code: error.code, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  const reference = newId().slice(0, 8);
  log.error(`unexpected failure in a run (reference ${reference})`, { error });
  return { code: "run.bug", message: `the run failed unexpectedly (reference ${reference})`, hint: "openclaw logs" };
}
