// Ends turns that no model answered: commands and messages that the gateway posts.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import type { RunFailure } from "../core/event.ts";
import type { AssistantMessage } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import { commandEntry } from "../session/command-messages.ts";
import { noActivity } from "./activity.ts";
import type { PendingTurn } from "./pending-turn.ts";
import { finish, mergedOutcome, outcomeOf, RETRY_MS, writeLater, type RunContext } from "./outcome.ts";
import type { SessionRef } from "./fit-context.ts";

/** A command has no run row and no message: the transcript gets an entry, and the inbox gets the answer. */
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
  const entry = commandEntry(pending.turn, { text, failure }, clock.now());
  const write = (): Promise<unknown> =>
    store.together(() =>
      Promise.all([
        store.transcript.append(sessionRef.record.sessionId, [entry]),
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

/** Waits for disk space, or for the next start, because these messages must not be lost. */
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
      return await postMessage(runContext, pending, sessionRef, startedAt, book);
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
async function postMessage(
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
