// One run from its first write to its outcome: commands first, then the model; whatever happens, one outcome.
import type { RunEventBody } from "../core/event.ts";
import type { UserMessage } from "../core/message.ts";
import { agentOfSession } from "../config/agents.ts";
import { notTheHouse } from "../base/untrusted-content.ts";
import { isMarkedUntrusted } from "../session/provenance.ts";
import { mergeTexts } from "../session/queue.ts";
import { isStale, resetRule } from "../session/reset.ts";
import { entryOf, newSession, resetSession } from "../session/session.ts";
import { sourceOnRecord } from "../session/turns.ts";
import type { SystemEvent } from "../session/system-events.ts";
import { unansweredEntry } from "../session/unanswered-messages.ts";
import type { RunRecord, SessionRecord, TranscriptEntry } from "../store/store.ts";
import { concludeCommand, concludeSaid, SAID } from "./reply-without-model.ts";
import { conclude } from "./conclude.ts";
import { endOfError, whenRoom, type RunContext } from "./outcome.ts";
import { Leave, runBodyOf, Stop, type PendingTurn } from "./pending-turn.ts";
import { DEFAULT_RUN_SECONDS } from "./limits.ts";
import { createRunTranscript, type RunTranscript } from "./run-transcript.ts";
import type { SessionRef } from "./fit-context.ts";
import type { Slots } from "./slots.ts";
import { runTurn } from "./turn.ts";

export interface RunPlan {
  /** Told in one line each, because the queue was full. */
  readonly summarised: readonly PendingTurn[];
  readonly slots: Slots;
  /** Messages for this run that came while it was under way; those taken are merged into it. */
  readonly steer: () => readonly PendingTurn[];
}

/**
 * Never throws. Ends the job and all merged into it, durably, with exactly one outcome each; only one that is left for
 * the next start before it began has none.
 */
export async function runJob(room: RunContext, job: PendingTurn, plan: RunPlan): Promise<void> {
  const { deps } = room;
  const startedAt = deps.clock.now();
  const seat: SessionRef = { record: newSession(job.turn.sessionKey, startedAt) };
  const limit = createLimit(room, job);
  const talk = [...job.merged];
  job.merged.push(...plan.summarised);
  const transcript = createRunTranscript((lines) => storeLines(room, job, place, lines));
  const place: Place = { seat, startedAt, talk, limit, transcript, hasSteered: false };
  try {
    await attempt(room, job, plan, place);
  } catch (error) {
    const stop = job.control.signal.aborted ? job.control.signal.reason : error;
    if (stop instanceof Leave) return;
    await conclude(room, job, seat, { startedAt, ...endOfError(stop, deps.log), rest: transcript.rest });
  } finally {
    limit.stop();
  }
}

interface Place {
  readonly seat: SessionRef;
  readonly startedAt: number;
  /** Messages that go into this turn word by word, besides the leading one. */
  readonly talk: readonly PendingTurn[];
  readonly limit: Limit;
  readonly transcript: RunTranscript;
  /** Messages were merged into the run since its row was written. */
  hasSteered: boolean;
}

async function attempt(room: RunContext, job: PendingTurn, plan: RunPlan, place: Place): Promise<void> {
  const { deps } = room;
  const { seat, startedAt, talk, limit } = place;
  const { turn, control } = job;
  const { signal } = control;
  const agentId = agentOfSession(turn.sessionKey, deps.config());
  signal.throwIfAborted();
  seat.record = await freshSession(room, job, startedAt);
  if (turn.source === SAID) {
    // It asks nobody and waits only for room on the disk.
    limit.stop();
    return concludeSaid(room, job, seat, startedAt);
  }

  signal.throwIfAborted();
  job.stage = "directing";
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
  const directed = job.directed ?? (await deps.direct(turn.text, context));
  signal.throwIfAborted();
  if (directed.kind === "answered") {
    // A command may have changed the session, also its id.
    seat.record = (await deps.store.sessions.get(turn.sessionKey)) ?? seat.record;
    return concludeCommand(room, job, seat, startedAt, directed);
  }
  job.stage = "placing";
  seat.record = (await deps.store.sessions.get(turn.sessionKey)) ?? seat.record;
  // Waiting for a place is not working: the time it may take counts from there.
  limit.stop();
  const release = await plan.slots.take(signal);
  limit.start();
  try {
    signal.throwIfAborted();
    job.stage = "running";
    job.emit({ stream: "lifecycle", phase: "start", startedAt });
    for (const text of directed.notes) job.emit({ stream: "notice", text });
    const typed = talk.map(({ text }) => text);
    // The text of a command is not needed once the person wrote on.
    const source = typed.length === 0 ? directed.source : undefined;
    const texts = directed.source === undefined || typed.length === 0 ? [directed.text, ...typed] : typed;
    const images = [job, ...talk].flatMap(({ turn: { images: own = [] } }) => own);
    const end = await runTurn(room, {
      turn,
      text: mergeTexts(
        texts,
        plan.summarised.map(({ text }) => text),
      ),
      images,
      once: directed.once,
      ...(source === undefined ? {} : { source }),
      agentId,
      seat,
      signal,
      // What the house asked of itself is not typed out before it is known whether it is news.
      emit(body) {
        if (turn.heartbeat === undefined || !isTyping(body)) job.emit(body);
      },
      steer: () => takeSteered(room, job, plan, place),
      transcript: place.transcript,
      open: (entries, events) => openRun(room, job, plan, place, { entries, events }),
    });
    await conclude(room, job, seat, { startedAt, ...end, rest: place.transcript.rest });
  } finally {
    release();
  }
}

const isTyping = ({ stream }: RunEventBody): boolean => stream === "assistant";

/**
 * The first step of a run: the row that says it is under way, the session it happens in, and the words it answers. No model
 * is asked before; with no room on the disk it waits, and that does not count as time it takes.
 */
async function openRun(
  room: RunContext,
  job: PendingTurn,
  { summarised }: RunPlan,
  { seat, startedAt, talk, limit }: Place,
  { entries, events }: { readonly entries: readonly TranscriptEntry[]; readonly events: readonly SystemEvent[] },
): Promise<void> {
  job.untrusted = events.some(isMarkedUntrusted);
  const { store, systemEvents } = room.deps;
  const { record } = seat;
  // Only their first lines go into the turn; all of it stays visible.
  const inShort = summarised.flatMap(({ turn }) => unansweredEntry(turn, SUMMARISED, startedAt) ?? []);
  // A repeated request may bring nothing that is new to the session.
  const written = [...inShort, ...entries];
  limit.stop();
  await whenRoom(room, job, () =>
    store.together(() =>
      Promise.all([
        store.runs.put(runRow(job, record, startedAt)),
        store.sessions.update(record.key, (current) =>
          job.turn.heartbeat === undefined ? { ...(current ?? record), updatedAt: startedAt } : (current ?? record),
        ),
        written.length === 0 ? undefined : store.transcript.append(record.sessionId, written),
      ]),
    ),
  );
  for (const heard of [job, ...talk, ...summarised]) heard.heard = true;
  // A crash in between tells them twice rather than never.
  await whenRoom(room, job, async () => systemEvents?.taken(record.key, events, job.turn.runId));
  limit.start();
}

const SUMMARISED = {
  code: "queue.summarized",
  message: "too many messages were waiting; the agent got its first line",
};

/** Lines of the run so far, and the messages it answers from now on, also when it is cut off: one step. */
function storeLines(
  room: RunContext,
  job: PendingTurn,
  place: Place,
  lines: readonly TranscriptEntry[],
): Promise<unknown> {
  const { store } = room.deps;
  const { seat, startedAt } = place;
  return whenRoom(room, job, async () => {
    const noteSteered = place.hasSteered;
    await store.together(() =>
      Promise.all([
        store.transcript.append(seat.record.sessionId, lines),
        ...(noteSteered ? [store.runs.put(runRow(job, seat.record, startedAt))] : []),
      ]),
    );
    if (noteSteered) place.hasSteered = false;
  });
}

function runRow(job: PendingTurn, { key, sessionId }: SessionRecord, startedAt: number): RunRecord {
  return { id: job.turn.runId, sessionKey: key, state: "running", startedAt, body: runBodyOf(job, sessionId) };
}

function takeSteered({ deps }: RunContext, job: PendingTurn, plan: RunPlan, place: Place): UserMessage[] {
  const steered = plan.steer();
  if (steered.length === 0) return [];
  // Those that also get a turn of their own have their outcome from there.
  job.merged.push(...steered.filter(({ stage }) => stage !== "ended"));
  job.overheard.push(...steered.flatMap(({ stage, turn }) => (stage === "ended" ? [turn.runId] : [])));
  // Stored in one step with their words.
  place.hasSteered = true;
  for (const other of steered) other.heard = true;
  return steered.map(({ text, turn }) => ({
    role: "user",
    content: [{ type: "text", text: notTheHouse(text) }, ...(turn.images ?? [])],
    timestamp: deps.clock.now(),
    ...sourceOnRecord(turn),
  }));
}

/** The session as it stands, begun anew when its time is over. A new one is stored at once: others may write into it. */
async function freshSession(room: RunContext, job: PendingTurn, now: number): Promise<SessionRecord> {
  const { deps, histories } = room;
  const { store } = deps;
  const { turn } = job;
  const record = await store.sessions.get(turn.sessionKey);
  if (record === undefined) {
    const first = newSession(turn.sessionKey, now);
    return (await whenRoom(room, job, () => store.sessions.update(first.key, (current) => current ?? first))) ?? first;
  }
  const rule = resetRule(deps.config(), turn.sessionKey, entryOf(record).channel, turn.heartbeat !== undefined);
  if (!isStale(rule, record.updatedAt, now)) return record;
  histories.forget(record.sessionId);
  return whenRoom(room, job, () => resetSession(store.sessions, turn.sessionKey, now));
}

interface Limit {
  start(): void;
  stop(): void;
}

/** A longer one would end at once; nothing runs for so many days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Runs from the beginning: a command may hang too. */
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
