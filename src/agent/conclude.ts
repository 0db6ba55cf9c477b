// The end of a run: what it came to, written in one commit, then told once to everybody who waits.
import { setTimeout as sleep } from "node:timers/promises";

import { HouseError } from "../core/error.ts";
import type { RunFailure, RunOutcome } from "../core/event.ts";
import type { AssistantMessage } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { entryOf } from "../session/session.ts";
import { QUIET, type QuietBody } from "../session/quiet.ts";
import type { TurnRequest } from "../session/turns.ts";
import type { RunRecord, SessionRecord, TranscriptEntry } from "../store/store.ts";
import { Stop, type Job } from "./job.ts";
import type { Ledger } from "./ledger.ts";
import type { RunBody } from "./recover.ts";
import { isSilent, judgeReply } from "./reply.ts";
import type { SessionSeat } from "./shrink.ts";
import type { TurnEnd, TurnRoom } from "./turn.ts";
import { cacheHitRate, contextOf } from "./usage.ts";

export interface RunRoom extends TurnRoom {
  readonly ledger: Ledger;
}

export type End = Partial<TurnEnd> & {
  readonly startedAt: number;
  readonly status: RunOutcome["status"];
  readonly text: string;
};

/** The last writes share one commit: what was said, how it ended, what it cost. Only then is anybody told. */
export async function conclude(room: RunRoom, job: Job, seat: SessionSeat, end: End): Promise<void> {
  const { deps } = room;
  const outcome = outcomeOf(room, job, seat, end);
  try {
    await Promise.all([end.settled, ...lastWrites(room, job, seat, end, outcome)]);
    deps.log.debug("run ended", factsOf(outcome));
    finish(job, outcome);
  } catch (error) {
    deps.log.error("the end of a run could not be written", { error, runId: job.turn.runId });
    const told: RunOutcome = { ...outcome, status: "error", failure: failureOf(error, deps.log) };
    job.written = writeLater(room, () => [
      deps.store.runs.put(endedRun(job, told)),
      ...[job, ...job.merged].map(({ turn: { runId } }) =>
        deps.store.inbox.finish(runId, "failed", runId === told.runId ? told : mergedOutcome(told, runId)),
      ),
    ]);
    finish(job, told);
  } finally {
    end.budget?.close();
  }
}

const RETRY_MS = 5_000;

/** A full disk may have room again; the end of the gateway leaves the rest to the next start. */
async function writeLater({ deps }: RunRoom, writes: () => Promise<unknown>[]): Promise<void> {
  for (;;) {
    await sleep(deps.retryMs ?? RETRY_MS, undefined, { ref: false });
    try {
      await Promise.all(writes());
      return;
    } catch (error) {
      if (error instanceof HouseError && error.code === "store.closed") return;
      deps.log.debug("the end of a run still cannot be written", { error });
    }
  }
}

function endedRun(job: Job, { runId, sessionKey, sessionId, status, startedAt, endedAt }: RunOutcome): RunRecord {
  const body: RunBody = {
    sessionId,
    merged: job.merged.map(({ turn }) => turn.runId),
    ...(job.overheard.length === 0 ? {} : { overheard: [...job.overheard] }),
    source: job.turn.source,
  };
  return { id: runId, sessionKey, state: status, startedAt, endedAt, body };
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
  const used = end.budget?.used();
  const { failure } = outcome;
  return [
    ...(failure === undefined || status !== "error"
      ? []
      : [store.transcript.append(outcome.sessionId, [failureEntry(failure, endedAt)])]),
    store.runs.put(endedRun(job, outcome)),
    store.inbox.finish(runId, state, outcome),
    ...job.merged.map(({ turn }) => store.inbox.finish(turn.runId, state, mergedOutcome(outcome, turn.runId))),
    ...(isQuiet(job, outcome) && end.entry?.sessionId === outcome.sessionId
      ? [store.transcript.append(outcome.sessionId, [quietEntry(end, outcome)])]
      : []),
    store.sessions.update(sessionKey, (current) => withOutcome(current ?? seat.record, end, outcome, job.turn)),
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

/** A turn of the house's own that had no news, or came to nothing: nobody asked for it. */
const isQuiet = ({ turn, merged }: Job, { status, silent }: RunOutcome): boolean =>
  turn.heartbeat !== undefined && merged.length === 0 && (status !== "ok" || silent);

/** Nobody is shown such a turn; and when it neither told nor did anything, no model reads it again. */
function quietEntry({ entry, told = 0 }: End, { toolCalls, endedAt }: RunOutcome): TranscriptEntry {
  const body: QuietBody = { customType: QUIET, from: entry?.id ?? "", forget: told === 0 && toolCalls === 0 };
  return { id: newId(), type: "custom", at: endedAt, body };
}

function withOutcome(record: SessionRecord, end: End, outcome: RunOutcome, turn: TurnRequest): SessionRecord {
  const { lastUsage, contextWindow, usage } = end;
  const isNews = turn.heartbeat === undefined || (outcome.status === "ok" && !outcome.silent);
  const { inputTokens = 0, outputTokens = 0 } = entryOf(record);
  return {
    ...record,
    updatedAt: isNews ? outcome.endedAt : record.updatedAt,
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
export async function concludeCommand(
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

/** Turns of this source ask nobody: their text is what the agent says. */
export const SAID = "say";

/** Words of the house were promised: they wait until there is room for them, or for the next start. */
export async function concludeSaid(room: RunRoom, job: Job, seat: SessionSeat, startedAt: number): Promise<void> {
  for (;;) {
    try {
      return await sayNow(room, job, seat, startedAt);
    } catch (error) {
      if (!(error instanceof HouseError) || error.code === "store.closed") throw error;
      room.deps.log.error("words of the house could not be written; trying again", { error, runId: job.turn.runId });
      await sleep(room.deps.retryMs ?? RETRY_MS, undefined, { ref: false, signal: job.control.signal });
    }
  }
}

/** The words and the end of their letter share one commit, so that they are said once, also over a crash. */
async function sayNow(room: RunRoom, job: Job, seat: SessionSeat, startedAt: number): Promise<void> {
  const { store, clock } = room.deps;
  const { text } = job.turn;
  const outcome = outcomeOf(room, job, seat, { startedAt, status: "ok", text });
  const at = clock.now();
  const body: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text }],
    timestamp: at,
    stopReason: "stop",
  };
  await Promise.all([
    store.transcript.append(seat.record.sessionId, [{ id: newId(), type: "message", at, body }]),
    store.sessions.update(seat.record.key, (current) => ({ ...(current ?? seat.record), updatedAt: at })),
    store.inbox.finish(job.turn.runId, "done", outcome),
  ]);
  finish(job, outcome);
}

function outcomeOf({ deps }: RunRoom, job: Job, seat: SessionSeat, end: End): RunOutcome {
  const { turn, control } = job;
  const stop = control.signal.aborted && control.signal.reason instanceof Stop ? control.signal.reason : undefined;
  const status = end.status === "aborted" ? (stop?.status ?? "aborted") : end.status;
  const failure = end.failure ?? (end.status === "aborted" ? stop?.failure : undefined);
  const isAnswer = status === "ok" && end.clientCalls === undefined && end.model !== undefined;
  // Whoever spoke into a heartbeat gets an answer like any other.
  const judged = isAnswer ? judgeReply(end.text, job.merged.length === 0 ? turn.heartbeat : undefined) : undefined;
  if (judged?.stray === true) deps.log.debug("a stray HEARTBEAT_OK was taken off a reply", { runId: turn.runId });
  const isEmpty = end.text.trim() === "" && end.clientCalls === undefined;
  const silent = judged?.silent ?? (status === "ok" && (isSilent(end.text) || isEmpty));
  return {
    runId: turn.runId,
    sessionKey: turn.sessionKey,
    sessionId: seat.record.sessionId,
    status,
    startedAt: end.startedAt,
    endedAt: deps.clock.now(),
    text: silent ? "" : (judged?.text ?? end.text),
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
  const { text } = outcome;
  if (job.turn.heartbeat !== undefined && text !== "") job.emit({ stream: "assistant", text, delta: text });
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
  const write = (): Promise<void> => room.deps.store.inbox.finish(job.turn.runId, "failed", outcome);
  await write().catch((error: unknown) => {
    room.deps.log.error("the end of a turn could not be written", { error, runId: job.turn.runId });
    job.written = writeLater(room, () => [write()]);
  });
  finish(job, outcome);
}

export function endOfError(
  error: unknown,
  log: Log,
): { status: RunOutcome["status"]; text: string; failure: RunFailure } {
  if (error instanceof Stop) return { status: error.status, text: "", failure: error.failure };
  return { status: "error", text: "", failure: failureOf(error, log) };
}

function failureOf(error: unknown, log: Log): RunFailure {
  if (error instanceof HouseError)
    return { code: error.code, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  const reference = newId().slice(0, 8);
  log.error(`unexpected failure in a run (reference ${reference})`, { error });
  return { code: "run.bug", message: `the run failed unexpectedly (reference ${reference})`, hint: "openclaw logs" };
}
