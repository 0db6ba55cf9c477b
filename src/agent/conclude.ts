// Ends a run: stores everything in one commit, then reports the outcome once.
import type { RunFailure, RunOutcome } from "../core/event.ts";
import { sessionKindOf } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import { entryOf } from "../session/session.ts";
import { SILENT_TURN, type SilentTurnBody } from "../session/silent-turn.ts";
import type { TurnRequest } from "../session/turns.ts";
import type { RunRecord, SessionRecord, TranscriptEntry } from "../store/store.ts";
import { unansweredEntry } from "../session/unanswered-messages.ts";
import { addActivity, noActivity } from "./activity.ts";
import { runBodyOf, type PendingTurn } from "./pending-turn.ts";
import type { LedgerEntry } from "./ledger.ts";
import {
  failureOf,
  finish,
  mergedOutcome,
  outcomeOf,
  whenDiskHasSpace,
  writeLater,
  type End,
  type RunContext,
} from "./outcome.ts";
import type { SessionRef } from "./fit-context.ts";
import { cacheHitRate, contextOf } from "./usage.ts";

/** The last entries, the outcome and the usage are one commit; the outcome is reported after it. */
export async function conclude(
  runContext: RunContext,
  pending: PendingTurn,
  sessionRef: SessionRef,
  end: End,
): Promise<void> {
  const { deps } = runContext;
  const outcome = outcomeOf(runContext, pending, sessionRef, end);
  try {
    const book = await runContext.ledger.book(ledgerEntry(sessionRef, end, outcome));
    const lines = (await end.rest?.()) ?? [];
    const write = (final: RunOutcome) => (): Promise<unknown> =>
      deps.store.together(() =>
        Promise.all([...lastWrites(runContext, pending, sessionRef, end, final, lines), book()]),
      );
    await whenDiskHasSpace(runContext, pending, write(outcome)).then(
      () => {
        deps.log.debug("run ended", factsOf(outcome));
        finish(pending, outcome);
      },
      (error: unknown) => {
        deps.log.error("the end of a run could not be stored", { error, runId: pending.turn.runId });
        const failed: RunOutcome = { ...outcome, status: "error", failure: failureOf(error, deps.log) };
        pending.written = writeLater(runContext, write(failed));
        finish(pending, failed);
      },
    );
  } finally {
    end.budget?.close();
  }
}

function endedRun(
  pending: PendingTurn,
  { runId, sessionKey, sessionId, status, startedAt, endedAt }: RunOutcome,
): RunRecord {
  return { id: runId, sessionKey, state: status, startedAt, endedAt, body: runBodyOf(pending, sessionId) };
}

function lastWrites(
  { deps: { store } }: RunContext,
  pending: PendingTurn,
  sessionRef: SessionRef,
  end: End,
  outcome: RunOutcome,
  lines: readonly TranscriptEntry[],
): Promise<unknown>[] {
  const { runId, sessionKey, sessionId, status, endedAt, failure } = outcome;
  const state = status === "ok" ? "done" : "failed";
  const entries = [
    ...lines,
    ...unansweredEntries(pending, outcome),
    ...(failure === undefined || status !== "error" ? [] : [failureEntry(failure, endedAt)]),
    ...(isSilentHeartbeat(pending, outcome) && end.entry?.sessionId === sessionId ? [silentEntry(end, outcome)] : []),
  ];
  return [
    ...(entries.length === 0 ? [] : [store.transcript.append(sessionId, entries)]),
    store.runs.put(endedRun(pending, outcome)),
    store.inbox.finish(runId, state, outcome),
    ...pending.merged.map(({ turn }) => store.inbox.finish(turn.runId, state, mergedOutcome(outcome, turn.runId))),
    store.sessions.update(sessionKey, (current) =>
      withOutcome(current ?? sessionRef.record, end, outcome, pending.turn),
    ),
  ];
}

/** Messages of a run that never began stay visible. */
function unansweredEntries(pending: PendingTurn, { failure, endedAt }: RunOutcome): TranscriptEntry[] {
  const why = failure ?? { code: "run.unheard", message: "the run ended before it began" };
  return [pending, ...pending.merged].flatMap(({ isInTranscript, turn }) =>
    isInTranscript ? [] : (unansweredEntry(turn, why, endedAt) ?? []),
  );
}

/** Usage counts for each model that answered; the run and its time count for the last of them. */
function ledgerEntry(
  { record }: SessionRef,
  { budget, activity = noActivity, context }: End,
  outcome: RunOutcome,
): LedgerEntry {
  const { sessionKey, startedAt, endedAt, status, usage } = outcome;
  const used = usage === undefined ? [] : (budget?.usedByModel() ?? []);
  const run = { minutes: (endedAt - startedAt) / 60_000, runs: 1 };
  return {
    agentId: record.agentId,
    sessionKey,
    startedAt,
    ...(context === undefined ? {} : { context }),
    used: used.map((use, index) => (index === used.length - 1 ? { ...use, totals: { ...use.totals, ...run } } : use)),
    activity: status === "error" ? addActivity(activity, { ...noActivity, errors: 1 }) : activity,
  };
}

/** Records why there is no answer; models do not read it. */
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

/** True for a heartbeat without a report, and for one that failed. */
const isSilentHeartbeat = ({ turn, merged }: PendingTurn, { status, silent }: RunOutcome): boolean =>
  turn.heartbeat !== undefined && merged.length === 0 && (status !== "ok" || silent);

/** Hides the turn from people, and from models when it carried no event and called no tool. */
function silentEntry({ entry, eventCount = 0 }: End, { toolCalls, endedAt }: RunOutcome): TranscriptEntry {
  const body: SilentTurnBody = {
    customType: SILENT_TURN,
    from: entry?.id ?? "",
    forget: eventCount === 0 && toolCalls === 0,
  };
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
      ...pageOf(record, turn),
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

/** Sets the page as the session's channel while no platform is attached, so that `last` means the open chats. */
function pageOf(record: SessionRecord, { source, sessionKey }: TurnRequest): Readonly<Record<string, unknown>> {
  const isGroup = sessionKey !== "global" && sessionKey !== "unknown" && sessionKindOf(sessionKey) === "group";
  const { lastChannel, deliveryContext } = entryOf(record);
  if ((source !== "chat" && source !== "cli") || isGroup || lastChannel !== undefined || deliveryContext !== undefined)
    return {};
  return {
    lastChannel: "webchat",
    deliveryContext: { channel: "webchat" },
    origin: { provider: "webchat", surface: "webchat", chatType: "direct" },
  };
}
