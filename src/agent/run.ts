// One run from its first write to its one outcome: commands first, then the model.
import type { RunEventBody } from "../core/event.ts";
import type { UserMessage } from "../core/message.ts";
import { agentOfSession } from "../config/agents.ts";
import { neutralizeSystemPrefix } from "../base/untrusted-content.ts";
import { isMarkedUntrusted } from "../session/provenance.ts";
import { mergeTexts } from "../session/queue.ts";
import { isStale, resetRule } from "../session/reset.ts";
import { entryOf, newSession, resetSession } from "../session/session.ts";
import { sourceOnRecord } from "../session/turns.ts";
import type { SystemEvent } from "../session/system-events.ts";
import { unansweredEntry } from "../session/unanswered-messages.ts";
import type { RunRecord, SessionRecord, TranscriptEntry } from "../store/store.ts";
import { concludeCommand, concludeSay, SAY } from "./reply-without-model.ts";
import { conclude } from "./conclude.ts";
import { endOfError, whenDiskHasSpace, type RunContext } from "./outcome.ts";
import { LeftForNextStart, runBodyOf, Stop, type PendingTurn } from "./pending-turn.ts";
import { DEFAULT_RUN_SECONDS } from "./limits.ts";
import { createRunTranscript, type RunTranscript } from "./run-transcript.ts";
import type { SessionRef } from "./fit-context.ts";
import type { RunLimit } from "./run-limit.ts";
import { runTurn } from "./turn.ts";

export interface RunPlan {
  /** Turns that the model reads as one line each, because the queue was full. */
  readonly summarized: readonly PendingTurn[];
  readonly limit: RunLimit;
  /** Messages that arrived during this run; those taken are merged into it. */
  readonly steer: () => readonly PendingTurn[];
}

/**
 * Never throws. Ends the turn and all merged into it, durably, with exactly one outcome each; only a turn that is left
 * for the next start has none.
 */
export async function runPendingTurn(runContext: RunContext, pending: PendingTurn, plan: RunPlan): Promise<void> {
  const { deps } = runContext;
  const startedAt = deps.clock.now();
  const sessionRef: SessionRef = { record: newSession(pending.turn.sessionKey, startedAt) };
  const limit = createLimit(runContext, pending);
  const others = [...pending.merged];
  pending.merged.push(...plan.summarized);
  const transcript = createRunTranscript((lines) => storeLines(runContext, pending, runState, lines));
  const runState: RunState = { sessionRef, startedAt, others, limit, transcript, hasSteered: false };
  try {
    await attempt(runContext, pending, plan, runState);
  } catch (error) {
    const stop = pending.control.signal.aborted ? pending.control.signal.reason : error;
    if (stop instanceof LeftForNextStart) return;
    await conclude(runContext, pending, sessionRef, {
      startedAt,
      ...endOfError(stop, deps.log),
      rest: transcript.rest,
    });
  } finally {
    limit.stop();
  }
}

interface RunState {
  readonly sessionRef: SessionRef;
  readonly startedAt: number;
  /** Messages that this turn includes in full, besides the leading one. */
  readonly others: readonly PendingTurn[];
  readonly limit: Limit;
  readonly transcript: RunTranscript;
  /** Messages were merged into the run after its row was stored. */
  hasSteered: boolean;
}

async function attempt(runContext: RunContext, pending: PendingTurn, plan: RunPlan, runState: RunState): Promise<void> {
  const { deps } = runContext;
  const { sessionRef, startedAt, others, limit } = runState;
  const { turn, control } = pending;
  const { signal } = control;
  const agentId = agentOfSession(turn.sessionKey, deps.config());
  signal.throwIfAborted();
  sessionRef.record = await freshSession(runContext, pending, startedAt);
  if (turn.source === SAY) {
    // Needs no model; it waits only for disk space.
    limit.stop();
    return concludeSay(runContext, pending, sessionRef, startedAt);
  }

  signal.throwIfAborted();
  pending.stage = "directing";
  const context = {
    sessionKey: turn.sessionKey,
    agentId,
    runId: turn.runId,
    source: turn.source,
    authorised: turn.authorised,
    approver: turn.approver,
    admin: turn.admin,
    signal,
  };
  const directed = pending.directed ?? (await deps.direct(turn.text, context));
  signal.throwIfAborted();
  if (directed.kind === "answered") {
    // A command may have changed the session, including its id.
    sessionRef.record = (await deps.store.sessions.get(turn.sessionKey)) ?? sessionRef.record;
    return concludeCommand(runContext, pending, sessionRef, startedAt, directed);
  }
  pending.stage = "waiting-for-slot";
  sessionRef.record = (await deps.store.sessions.get(turn.sessionKey)) ?? sessionRef.record;
  // The time limit does not count while the turn waits for a slot.
  limit.stop();
  const release = await plan.limit.take(signal);
  limit.start();
  try {
    signal.throwIfAborted();
    pending.stage = "running";
    pending.emit({ stream: "lifecycle", phase: "start", startedAt });
    for (const text of directed.notes) pending.emit({ stream: "notice", text });
    const typed = others.map(({ text }) => text);
    // The text that a command wrote is dropped when messages of the person follow.
    const source = typed.length === 0 ? directed.source : undefined;
    const texts = directed.source === undefined || typed.length === 0 ? [directed.text, ...typed] : typed;
    const images = [pending, ...others].flatMap(({ turn: { images: own = [] } }) => own);
    const end = await runTurn(runContext, {
      turn,
      text: mergeTexts(
        texts,
        plan.summarized.map(({ text }) => text),
      ),
      images,
      once: directed.once,
      ...(source === undefined ? {} : { source }),
      agentId,
      sessionRef,
      signal,
      // The text of a heartbeat is not streamed before it is known whether it is a report.
      emit(body) {
        if (turn.heartbeat === undefined || !isTyping(body)) pending.emit(body);
      },
      steer: () => takeSteered(runContext, pending, plan, runState),
      transcript: runState.transcript,
      open: (entries, events) => openRun(runContext, pending, plan, runState, { entries, events }),
    });
    await conclude(runContext, pending, sessionRef, { startedAt, ...end, rest: runState.transcript.rest });
  } finally {
    release();
  }
}

const isTyping = ({ stream }: RunEventBody): boolean => stream === "assistant";

/**
 * The first step of a run: stores its row, its session and the messages it answers. The model is asked afterwards;
 * on a full disk it waits, and that does not count against the time limit.
 */
async function openRun(
  runContext: RunContext,
  pending: PendingTurn,
  { summarized }: RunPlan,
  { sessionRef, startedAt, others, limit }: RunState,
  { entries, events }: { readonly entries: readonly TranscriptEntry[]; readonly events: readonly SystemEvent[] },
): Promise<void> {
  pending.untrusted = events.some(isMarkedUntrusted);
  const { store, systemEvents } = runContext.deps;
  const { record } = sessionRef;
  // The model reads their first lines; people still see the whole text.
  const shortened = summarized.flatMap(({ turn }) => unansweredEntry(turn, SUMMARIZED, startedAt) ?? []);
  // A repeated request may bring nothing new.
  const written = [...shortened, ...entries];
  limit.stop();
  await whenDiskHasSpace(runContext, pending, () =>
    store.together(() =>
      Promise.all([
        store.runs.put(runRow(pending, record, startedAt)),
        store.sessions.update(record.key, (current) =>
          pending.turn.heartbeat === undefined ? { ...(current ?? record), updatedAt: startedAt } : (current ?? record),
        ),
        written.length === 0 ? undefined : store.transcript.append(record.sessionId, written),
      ]),
    ),
  );
  for (const read of [pending, ...others, ...summarized]) read.isInTranscript = true;
  // A crash in between repeats the events rather than losing them.
  await whenDiskHasSpace(runContext, pending, async () =>
    systemEvents?.markRead(record.key, events, pending.turn.runId),
  );
  limit.start();
}

const SUMMARIZED = {
  code: "queue.summarized",
  message: "too many messages were waiting; the agent read only its first line",
};

/** Stores entries of the run and the messages merged into it in one step. */
function storeLines(
  runContext: RunContext,
  pending: PendingTurn,
  runState: RunState,
  lines: readonly TranscriptEntry[],
): Promise<unknown> {
  const { store } = runContext.deps;
  const { sessionRef, startedAt } = runState;
  return whenDiskHasSpace(runContext, pending, async () => {
    const noteSteered = runState.hasSteered;
    await store.together(() =>
      Promise.all([
        store.transcript.append(sessionRef.record.sessionId, lines),
        ...(noteSteered ? [store.runs.put(runRow(pending, sessionRef.record, startedAt))] : []),
      ]),
    );
    if (noteSteered) runState.hasSteered = false;
  });
}

function runRow(pending: PendingTurn, { key, sessionId }: SessionRecord, startedAt: number): RunRecord {
  return { id: pending.turn.runId, sessionKey: key, state: "running", startedAt, body: runBodyOf(pending, sessionId) };
}

function takeSteered({ deps }: RunContext, pending: PendingTurn, plan: RunPlan, runState: RunState): UserMessage[] {
  const steered = plan.steer();
  if (steered.length === 0) return [];
  // Messages that also get a turn of their own have their outcome from there.
  pending.merged.push(...steered.filter(({ stage }) => stage !== "ended"));
  pending.overheard.push(...steered.flatMap(({ stage, turn }) => (stage === "ended" ? [turn.runId] : [])));
  // Stored in one step with their text.
  runState.hasSteered = true;
  for (const other of steered) other.isInTranscript = true;
  return steered.map(({ text, turn }) => ({
    role: "user",
    content: [{ type: "text", text: neutralizeSystemPrefix(text) }, ...(turn.images ?? [])],
    timestamp: deps.clock.now(),
    ...sourceOnRecord(turn),
  }));
}

/** The session record, reset when it is stale. A new one is stored immediately, because others may write to it. */
async function freshSession(runContext: RunContext, pending: PendingTurn, now: number): Promise<SessionRecord> {
  const { deps, histories } = runContext;
  const { store } = deps;
  const { turn } = pending;
  const record = await store.sessions.get(turn.sessionKey);
  if (record === undefined) {
    const first = newSession(turn.sessionKey, now);
    return (
      (await whenDiskHasSpace(runContext, pending, () =>
        store.sessions.update(first.key, (current) => current ?? first),
      )) ?? first
    );
  }
  const rule = resetRule(deps.config(), turn.sessionKey, entryOf(record).channel, turn.heartbeat !== undefined);
  if (!isStale(rule, record.updatedAt, now)) return record;
  histories.forget(record.sessionId);
  return whenDiskHasSpace(runContext, pending, () => resetSession(store.sessions, turn.sessionKey, now));
}

interface Limit {
  start(): void;
  stop(): void;
}

/** A longer timer would fire immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Starts immediately, because a command can hang too. */
function createLimit({ deps }: RunContext, { turn, control }: PendingTurn): Limit {
  const timeoutMs = turn.timeoutMs ?? (deps.config().agents?.defaults?.timeoutSeconds ?? DEFAULT_RUN_SECONDS) * 1000;
  const failure = {
    code: "run.timeout",
    message: `stopped: the run took longer than ${timeoutMs / 1000} s`,
    hint: "raise agents.defaults.timeoutSeconds",
  };
  let timer: NodeJS.Timeout | undefined;
  const limit: Limit = {
    start() {
      timer = setTimeout(() => control.abort(new Stop("error", failure)), Math.min(timeoutMs, LONGEST_TIMER_MS));
    },
    stop: () => clearTimeout(timer),
  };
  limit.start();
  return limit;
}
