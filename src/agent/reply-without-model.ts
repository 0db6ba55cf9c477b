// Ends turns that no model answered: commands, messages of the gateway, and turns that never ran.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import type { RunFailure, RunOutcome } from "../core/event.ts";
import type { AssistantMessage } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import { newSession } from "../session/session.ts";
import { unansweredEntry } from "../session/unanswered-messages.ts";
import { noActivity } from "./activity.ts";
import type { PendingTurn } from "./pending-turn.ts";
import { finish, mergedOutcome, outcomeOf, RETRY_MS, writeLater, type RunContext } from "./outcome.ts";
import type { SessionRef } from "./fit-context.ts";

/** A command has no run row and no message: it leaves a note in the transcript and its answer in the inbox. */
export async function concludeCommand(
  runContext: RunContext,
  pending: PendingTurn,
  sessionRef: SessionRef,
  startedAt: number,
  { text, failure }: { readonly text: string; readonly failure?: RunFailure | undefined },
): Promise<void> {
  const { store, clock } = runContext.deps;
  const outcome = outcomeOf(runContext, pending, sessionRef, {
    startedAt,
    status: failure === undefined ? "ok" : "error",
    text,
    ...(failure === undefined ? {} : { failure }),
  });
  const note = { customType: "command", text: pending.turn.text, answer: text };
  const write = (): Promise<unknown> =>
    store.together(() =>
      Promise.all([
        store.transcript.append(sessionRef.record.sessionId, [
          { id: newId(), type: "custom", at: clock.now(), body: note },
        ]),
        store.sessions.update(sessionRef.record.key, (current) => current ?? sessionRef.record),
        store.inbox.finish(pending.turn.runId, failure === undefined ? "done" : "failed", outcome),
        ...pending.merged.map(({ turn }) => store.inbox.finish(turn.runId, "done", mergedOutcome(outcome, turn.runId))),
      ]),
    );
  // The command is done, so its sender does not wait for the disk: `/stop` must work on a full one.
  await write().catch((error: unknown) => {
    runContext.deps.log.error("the end of a command could not be stored", { error, runId: pending.turn.runId });
    pending.written = writeLater(runContext, write);
  });
  finish(pending, outcome);
}

/** The text of such a turn is posted as a message of the agent. */
export const SAY = "say";

/** These messages were promised: they wait for disk space, or for the next start. */
export async function concludeSay(
  runContext: RunContext,
  pending: PendingTurn,
  sessionRef: SessionRef,
  startedAt: number,
): Promise<void> {
  const { agentId, key } = sessionRef.record;
  const book = await runContext.ledger.book({
    agentId,
    sessionKey: key,
    used: [],
    activity: { ...noActivity, assistant: 1 },
  });
  for (;;) {
    try {
      return await sayNow(runContext, pending, sessionRef, startedAt, book);
    } catch (error) {
      if (!(error instanceof OpenClawError) || error.code === "store.closed") throw error;
      runContext.deps.log.error("a message of the gateway could not be stored; trying again", {
        error,
        runId: pending.turn.runId,
      });
      await sleep(runContext.deps.retryMs ?? RETRY_MS, undefined, { ref: false, signal: pending.control.signal });
    }
  }
}

/** The message and the end of its turn share one commit, so that it is posted once, also over a crash. */
async function sayNow(
  runContext: RunContext,
  pending: PendingTurn,
  sessionRef: SessionRef,
  startedAt: number,
  book: () => Promise<void>,
): Promise<void> {
  const { store, clock } = runContext.deps;
  const { text } = pending.turn;
  const outcome = outcomeOf(runContext, pending, sessionRef, { startedAt, status: "ok", text });
  const at = clock.now();
  const body: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text }],
    timestamp: at,
    stopReason: "stop",
  };
  await store.together(() =>
    Promise.all([
      store.transcript.append(sessionRef.record.sessionId, [{ id: newId(), type: "message", at, body }]),
      store.sessions.update(sessionRef.record.key, (current) => ({ ...(current ?? sessionRef.record), updatedAt: at })),
      store.inbox.finish(pending.turn.runId, "done", outcome),
      book(),
    ]),
  );
  finish(pending, outcome);
}

/** Ends a turn that never ran, and those merged into it; their messages stay visible with the reason. */
export async function dismiss(
  runContext: RunContext,
  pending: PendingTurn,
  status: "error" | "aborted",
  failure: RunFailure,
): Promise<void> {
  const { store, clock, log } = runContext.deps;
  const now = clock.now();
  const { sessionKey, runId } = pending.turn;
  const endIn = (sessionId: string): RunOutcome => ({
    runId,
    sessionKey,
    sessionId,
    status,
    startedAt: now,
    endedAt: now,
    text: "",
    silent: false,
    toolCalls: 0,
    failure,
  });
  const all = [pending, ...pending.merged];
  const write = async (): Promise<RunOutcome> => {
    // Started at once when there is a session, so that later entries come after it.
    const current =
      (await store.sessions.get(sessionKey)) ??
      (await store.sessions.update(sessionKey, (known) => known ?? newSession(sessionKey, now)));
    const outcome = endIn(current?.sessionId ?? "");
    const entries = all.flatMap(({ heard, turn }) => (heard ? [] : (unansweredEntry(turn, failure, now) ?? [])));
    await store.together(() =>
      Promise.all([
        ...(entries.length === 0 ? [] : [store.transcript.append(outcome.sessionId, entries)]),
        ...all.map(({ turn }) => store.inbox.finish(turn.runId, "failed", mergedOrOwn(outcome, turn.runId))),
      ]),
    );
    return outcome;
  };
  const outcome = await write().catch(async (error: unknown) => {
    log.error("the end of a turn could not be stored", { error, runId });
    pending.written = writeLater(runContext, write);
    return endIn((await sessionIdOf(runContext, pending)) ?? "");
  });
  finish(pending, outcome);
}

const mergedOrOwn = (outcome: RunOutcome, runId: string): RunOutcome =>
  runId === outcome.runId ? outcome : mergedOutcome(outcome, runId);

/** Undefined when there is none or the store cannot be read; the end must not wait for that. */
async function sessionIdOf({ deps }: RunContext, { turn }: PendingTurn): Promise<string | undefined> {
  try {
    return (await deps.store.sessions.get(turn.sessionKey))?.sessionId;
  } catch (error) {
    if (error instanceof OpenClawError) return undefined;
    throw error;
  }
}
