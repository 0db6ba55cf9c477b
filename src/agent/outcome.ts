// Builds the outcome of a run and reports it once; turns errors into failures; retries writes on a full disk.
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import type { RunFailure, RunOutcome } from "../core/event.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { TranscriptEntry } from "../store/store.ts";
import { Stop, type PendingTurn } from "./pending-turn.ts";
import type { Ledger } from "./ledger.ts";
import { isSilent, judgeReply } from "./reply.ts";
import type { SessionRef } from "./fit-context.ts";
import type { TurnEnd, TurnContext } from "./turn.ts";

export interface RunContext extends TurnContext {
  readonly ledger: Ledger;
}

export type End = Partial<TurnEnd> & {
  readonly startedAt: number;
  readonly status: RunOutcome["status"];
  readonly text: string;
  /** Entries of the run that are not stored yet. */
  readonly rest?: () => Promise<readonly TranscriptEntry[]>;
};

export function outcomeOf({ deps }: RunContext, pending: PendingTurn, sessionRef: SessionRef, end: End): RunOutcome {
  const { turn, control } = pending;
  const stop = control.signal.aborted && control.signal.reason instanceof Stop ? control.signal.reason : undefined;
  const status = end.status === "aborted" ? (stop?.status ?? "aborted") : end.status;
  const failure = end.failure ?? (end.status === "aborted" ? stop?.failure : undefined);
  const isAnswer = status === "ok" && end.clientCalls === undefined && end.model !== undefined;
  // A message that was merged into a heartbeat gets an ordinary answer.
  const judged = isAnswer ? judgeReply(end.text, pending.merged.length === 0 ? turn.heartbeat : undefined) : undefined;
  if (judged?.stray === true) deps.log.debug("a stray HEARTBEAT_OK was removed from a reply", { runId: turn.runId });
  const isEmpty = end.text.trim() === "" && end.clientCalls === undefined;
  const silent = judged?.silent ?? (status === "ok" && (isSilent(end.text) || isEmpty));
  return {
    runId: turn.runId,
    sessionKey: turn.sessionKey,
    sessionId: sessionRef.record.sessionId,
    status,
    startedAt: end.startedAt,
    endedAt: deps.clock.now(),
    text: silent ? "" : (judged?.text ?? end.text),
    silent,
    ...(end.model === undefined ? {} : { provider: end.model.provider, model: end.model.id }),
    ...(end.usage === undefined ? {} : { usage: end.usage }),
    ...(end.budget === undefined ? {} : { costUsd: end.budget.used().costUsd }),
    toolCalls: end.toolCalls ?? 0,
    ...(end.stop === "length" || end.stop === "refusal" ? { cut: end.stop } : {}),
    ...(end.clientCalls === undefined ? {} : { clientCalls: end.clientCalls }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** The outcome of a merged turn: the text is reported once, under the run that answered. */
export function mergedOutcome(outcome: RunOutcome, runId: string): RunOutcome {
  const { usage: _usage, costUsd: _costUsd, ...rest } = outcome;
  return { ...rest, runId, silent: outcome.status === "ok" ? true : outcome.silent, toolCalls: 0 };
}

export function finish(pending: PendingTurn, outcome: RunOutcome): void {
  pending.stage = "ended";
  const { text } = outcome;
  if (pending.turn.heartbeat !== undefined && text !== "") pending.emit({ stream: "assistant", text, delta: text });
  pending.emit({ stream: "lifecycle", phase: "end", outcome });
  pending.end(outcome);
  for (const other of pending.merged) {
    const its = mergedOutcome(outcome, other.turn.runId);
    other.stage = "ended";
    other.emit({ stream: "lifecycle", phase: "end", outcome: its });
    other.end(its);
  }
}

export function endOfError(
  error: unknown,
  log: Log,
): { status: RunOutcome["status"]; text: string; failure: RunFailure } {
  if (error instanceof Stop) return { status: error.status, text: "", failure: error.failure };
  return { status: "error", text: "", failure: failureOf(error, log) };
}

export function failureOf(error: unknown, log: Log): RunFailure {
  if (error instanceof OpenClawError)
    return { code: error.code, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  const reference = newId().slice(0, 8);
  log.error(`unexpected failure in a run (reference ${reference})`, { error });
  return { code: "run.bug", message: `the run failed unexpectedly (reference ${reference})`, hint: "openclaw logs" };
}

export const RETRY_MS = 1_000;

/** Errors that can be temporary: the write is repeated instead of failing. */
const temporary: ReadonlySet<string> = new Set(["store.full", "store.busy"]);

/**
 * Repeats a write until the disk has space, and shows the person once that it waits. Rejects with the reason of the turn's
 * signal when the turn is stopped, and immediately with other errors.
 */
export async function whenDiskHasSpace<T>(
  { deps }: TurnContext,
  pending: PendingTurn,
  write: () => Promise<T>,
): Promise<T> {
  const { signal } = pending.control;
  for (let tries = 0; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof OpenClawError) || !temporary.has(error.code)) throw error;
      if (signal.aborted) throw error;
      if (tries === 0) {
        deps.log.warn("a turn waits until it can be stored", { error, runId: pending.turn.runId });
        pending.emit({ stream: "notice", text: waitingText(error) });
      }
      await sleep(deps.retryMs ?? RETRY_MS, undefined, { ref: false, signal }).catch(() => signal.throwIfAborted());
    }
  }
}

function waitingText({ message, hint }: OpenClawError): string {
  const fix = hint === undefined ? "" : ` Fix: ${hint}.`;
  return `Waiting: ${message}. Your message is stored; this continues automatically.${fix}`;
}

/** Repeats the write until it succeeds or the store closes; then the next start recovers the run. */
export async function writeLater({ deps }: RunContext, write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    await sleep(deps.retryMs ?? RETRY_MS, undefined, { ref: false });
    try {
      await write();
      return;
    } catch (error) {
      if (error instanceof OpenClawError && error.code === "store.closed") return;
      deps.log.debug("the end of a run still cannot be stored", { error });
    }
  }
}
