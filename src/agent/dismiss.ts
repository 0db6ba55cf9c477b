// Ends turns that never ran: dropped, interrupted, stopped, or failed before they began.
import { descriptorLimit } from "../base/descriptors.ts";
import { errnoOf, OpenClawError } from "../core/error.ts";
import type { RunFailure, RunOutcome } from "../core/event.ts";
import { newSession } from "../session/session.ts";
import { unansweredEntry } from "../session/unanswered-messages.ts";
import { finish, mergedOutcome, writeLater, type RunContext } from "./outcome.ts";
import type { PendingTurn } from "./pending-turn.ts";

export type Dismissal = "dropped" | "interrupted" | { readonly error: unknown } | { readonly reason: string };

/** Ends the turn and those merged into it; their messages stay visible with the reason. Never throws. */
export async function dismissTurn(runContext: RunContext, pending: PendingTurn, why: Dismissal): Promise<void> {
  const { status, ...failure } = failureOfDismissal(why);
  await dismiss(runContext, pending, status, failure).catch((error: unknown) =>
    runContext.deps.log.error("a turn could not be closed", { error, runId: pending.turn.runId }),
  );
}

async function dismiss(
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
    // An existing session is read without an update, so that later entries come after this one.
    const current =
      (await store.sessions.get(sessionKey)) ??
      (await store.sessions.update(sessionKey, (known) => known ?? newSession(sessionKey, now)));
    const outcome = endIn(current?.sessionId ?? "");
    const entries = all.flatMap(({ isInTranscript, turn }) =>
      isInTranscript ? [] : (unansweredEntry(turn, failure, now) ?? []),
    );
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

/** Undefined without a session, or when the store cannot be read: the end of a turn does not wait for it. */
async function sessionIdOf({ deps }: RunContext, { turn }: PendingTurn): Promise<string | undefined> {
  try {
    return (await deps.store.sessions.get(turn.sessionKey))?.sessionId;
  } catch (error) {
    if (error instanceof OpenClawError) return undefined;
    throw error;
  }
}

function failureOfDismissal(why: Dismissal): RunFailure & { readonly status: "error" | "aborted" } {
  if (why === "interrupted") return { status: "aborted", code: "run.aborted", message: "replaced by a newer message" };
  if (typeof why === "object" && "error" in why) return { status: "error", ...failureToBegin(why.error) };
  if (why !== "dropped") return { status: "aborted", code: "run.aborted", message: `stopped (${why.reason})` };
  const message = "too many messages were waiting, so this one was dropped";
  return {
    status: "error",
    code: "queue.dropped",
    message,
    hint: "raise messages.queue.cap, or change messages.queue.drop",
  };
}

function failureToBegin(error: unknown): RunFailure {
  const limit = descriptorLimit(error);
  if (limit !== undefined)
    return { code: "run.no-descriptors", message: `the turn could not begin: ${limit.message}`, hint: limit.hint };
  if (error instanceof OpenClawError)
    return { code: error.code, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  if (errnoOf(error) === "ERR_MODULE_NOT_FOUND" || errnoOf(error) === "ENOENT")
    return {
      code: "run.not-loaded",
      message: "the turn could not begin: a file of the installed gateway is missing",
      hint: "wait for a running update to end, or restart the gateway (openclaw gateway restart); then send the message again",
    };
  return {
    code: "run.bug",
    message: "the turn could not begin",
    hint: "openclaw logs shows why; then send the message again",
  };
}
