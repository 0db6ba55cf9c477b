// Recovers from a dead process: closes its runs with their true outcome and returns its waiting turns.
import type { RunOutcome } from "../core/event.ts";
import type { AssistantMessage, Message, ToolResultMessage } from "../core/message.ts";
import { newId } from "../base/ids.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { SILENT_TURN, type SilentTurnBody } from "../session/silent-turn.ts";
import type { InboxEntry, RunRecord, Store, TranscriptEntry } from "../store/store.ts";

/** Stored with a run while it is running. */
export interface RunBody {
  readonly sessionId: string;
  /** Run ids of other turns that this run answers too. */
  readonly merged: readonly string[];
  /** Turns whose messages the run read, but whose outcome is their own. */
  readonly overheard?: readonly string[];
  /** A system event that it read was untrusted. */
  readonly untrusted?: true;
  readonly source: string;
}

export const INTERRUPTED = "This run was interrupted by a restart of the gateway. Work in progress may be incomplete.";

/** Returns the waiting turns by session, in the order they were posted. */
export async function recover(store: Store, clock: Clock, log: Log): Promise<InboxEntry[]> {
  const open = await store.runs.open();
  for (const run of open) await closeRun(store, clock, run);
  if (open.length > 0)
    log.warn(`${open.length} ${open.length === 1 ? "run was" : "runs were"} interrupted when the gateway last stopped`);
  await store.inbox.reclaim();
  const entries: InboxEntry[] = [];
  for (const key of await store.inbox.waiting()) {
    for (const entry of await store.inbox.claim(key, 100_000)) if (!(await isClosed(store, entry))) entries.push(entry);
  }
  if (entries.length > 0)
    log.info(
      `starting ${entries.length === 1 ? "1 turn that was" : `${entries.length} turns that were`} waiting when the gateway stopped`,
    );
  return entries;
}

/** A run that is recorded as ended never runs again, whatever its inbox row says. */
async function isClosed(store: Store, { id, sessionKey }: InboxEntry): Promise<boolean> {
  const run = await store.runs.get(id);
  if (run === undefined || run.state === "running") return false;
  const { state, startedAt, endedAt = startedAt } = run;
  const { sessionId = "" } = (run.body ?? {}) as Partial<RunBody>;
  const isOk = state === "ok";
  const failure = { code: "run.interrupted", message: INTERRUPTED, hint: "send the message again" };
  const outcome: RunOutcome = {
    runId: id,
    sessionKey,
    sessionId,
    status: isOk ? "ok" : "error",
    startedAt,
    endedAt,
    text: "",
    silent: isOk,
    toolCalls: 0,
    ...(isOk ? {} : { failure }),
  };
  await store.inbox.finish(id, isOk ? "done" : "failed", outcome);
  return true;
}

async function closeRun(store: Store, clock: Clock, run: RunRecord): Promise<void> {
  const { sessionId, merged = [], source } = (run.body ?? {}) as Partial<RunBody>;
  const isHeartbeat = source === "heartbeat" && merged.length === 0;
  const endedAt = clock.now();
  const outcomeOf = (runId: string): RunOutcome => ({
    runId,
    sessionKey: run.sessionKey,
    sessionId: sessionId ?? "",
    status: "error",
    startedAt: run.startedAt,
    endedAt,
    text: "",
    silent: false,
    toolCalls: 0,
    failure: { code: "run.interrupted", message: INTERRUPTED, hint: "send the message again" },
  });
  const posted = await Promise.all([run.id, ...merged].map((id) => store.inbox.get(id)));
  // The run ended, and only its row is out of date.
  const isDone = posted[0]?.state === "done";
  const entries = sessionId === undefined || isDone ? [] : await closingEntries(store, sessionId, endedAt, isHeartbeat);
  // One step, because an open inbox row behind a closed run would run again.
  await store.together(() =>
    Promise.all([
      ...(sessionId === undefined || entries.length === 0 ? [] : [store.transcript.append(sessionId, entries)]),
      ...posted.flatMap((entry) =>
        entry === undefined ? [] : [store.inbox.finish(entry.id, "failed", outcomeOf(entry.id))],
      ),
      store.runs.put({ ...run, state: isDone ? "ok" : "error", endedAt }),
    ]),
  );
}

/** A result for every call that has none, then a message about the interruption. */
async function closingEntries(
  store: Store,
  sessionId: string,
  at: number,
  isHeartbeat: boolean,
): Promise<TranscriptEntry[]> {
  const tail = await store.transcript.tail(sessionId, 300);
  const messages = tail.flatMap(({ type, body }) => (type === "message" ? [body as Message] : []));
  const answered = new Set(messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])));
  const last = messages.findLast((message): message is AssistantMessage => message.role === "assistant");
  const open =
    last?.content.flatMap((block) => (block.type === "toolCall" && !answered.has(block.id) ? [block] : [])) ?? [];
  const results = open.map(({ id, name }): ToolResultMessage => ({
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [
      { type: "text", text: "Interrupted by a restart of the gateway; it is unknown whether the call took effect." },
    ],
    isError: true,
    timestamp: at,
  }));
  const notice: AssistantMessage = {
    role: "assistant",
    content: [{ type: "text", text: INTERRUPTED }],
    timestamp: at,
    stopReason: "error",
    errorMessage: INTERRUPTED,
  };
  const closing = [...results, notice].map((body) => ({ id: newId(), type: "message", at, body }));
  // The end of a heartbeat is not shown in a chat either.
  const began = tail.findLast(({ type, body }) => type === "message" && (body as Message).role === "user");
  if (!isHeartbeat || began === undefined) return closing;
  const mark: SilentTurnBody = { customType: SILENT_TURN, from: began.id, forget: false };
  return [...closing, { id: newId(), type: "custom", at, body: mark }];
}
