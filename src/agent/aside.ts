// Ends of turns no model answered: a command's answer, words of the house, and turns that never ran.
import { setTimeout as sleep } from "node:timers/promises";

import { HouseError } from "../core/error.ts";
import type { RunFailure, RunOutcome } from "../core/event.ts";
import type { AssistantMessage } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { Job } from "./job.ts";
import { finish, mergedOutcome, outcomeOf, RETRY_MS, writeLater, type RunRoom } from "./outcome.ts";
import type { SessionSeat } from "./shrink.ts";

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
