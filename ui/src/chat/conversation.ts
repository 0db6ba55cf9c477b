// The state of one conversation, and the pure functions that change it: the transcript, and runs that are not in it yet.
import { applyChange, isOver, newRun, type Run } from "./run.ts";
import { textOfContent, type ChatMessage, type RunEvent } from "./parse-events.ts";

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  /** In the order in which they were sent or first seen. */
  readonly runs: readonly Run[];
  /** Ids of runs that the transcript contains; later events of them are ignored. */
  readonly done: readonly string[];
}

export const emptyConversation: Conversation = { messages: [], runs: [], done: [] };

const mostDone = 200;

export function withSent(conversation: Conversation, runId: string, text: string): Conversation {
  const run = newRun(runId, newestOf(conversation.messages) + 1, text, "sending");
  return { ...conversation, runs: [...conversation.runs, run] };
}

/** The gateway accepted the message, which is queued while another run is active. */
export function withAccepted(conversation: Conversation, runId: string): Conversation {
  const isBehind = conversation.runs.some((run) => run.runId !== runId && isRunning(run));
  return change(conversation, runId, (run) =>
    run.phase === "sending" || run.phase === "unsent" ? { ...run, phase: isBehind ? "queued" : "running" } : run,
  );
}

export function withUnsent(conversation: Conversation, runId: string, message: string, hint?: string): Conversation {
  return change(conversation, runId, (run) => ({ ...run, phase: "unsent", failure: { message, hint } }));
}

/** A run that ended while the page was disconnected; its reply is in the transcript. */
export function withEnded(conversation: Conversation, runId: string): Conversation {
  return change(conversation, runId, (run) => (isOver(run) ? run : { ...run, phase: "final" }));
}

export function withoutRun(conversation: Conversation, runId: string): Conversation {
  return { ...conversation, runs: conversation.runs.filter((run) => run.runId !== runId) };
}

export function withEvent(conversation: Conversation, { runId, seq, change: what }: RunEvent): Conversation {
  if (conversation.done.includes(runId)) return conversation;
  const isKnown = conversation.runs.some((run) => run.runId === runId);
  const known = isKnown
    ? conversation
    : { ...conversation, runs: [...conversation.runs, newRun(runId, newestOf(conversation.messages))] };
  return change(known, runId, (run) => applyChange(run, what, seq));
}

/**
 * Replaces the transcript. `covered` are the runs that were over when it was requested: it contains all their messages,
 * so only what is not in the transcript (some failures) stays with the run.
 */
export function withHistory(
  conversation: Conversation,
  fresh: readonly ChatMessage[],
  covered: readonly string[],
): Conversation {
  const messages = reuse(conversation.messages, fresh);
  const isCovered = (run: Run): boolean => isOver(run) && covered.includes(run.runId);
  const isGone = (run: Run): boolean => isCovered(run) && !isMissingFromTranscript(messages, run);
  const place = (run: Run): Run => ({ ...run, endMs: run.endMs ?? run.final?.timestamp ?? newestOf(messages) });
  const gone = conversation.runs.filter(isGone).map(({ runId }) => runId);
  return {
    messages,
    runs: conversation.runs.filter((run) => !isGone(run)).map((run) => (isCovered(run) ? place(run) : run)),
    done: [...conversation.done, ...gone].slice(-mostDone),
  };
}

/** After a reconnect the state of runs of other clients is unknown; active ones send new events. */
export function withoutOtherClients(conversation: Conversation): Conversation {
  return { ...conversation, runs: conversation.runs.filter((run) => run.sent !== undefined || isOver(run)) };
}

export function isRunning({ phase }: Run): boolean {
  return phase === "running";
}

/** The run has an outcome that the transcript does not contain. */
function isMissingFromTranscript(messages: readonly ChatMessage[], run: Run): boolean {
  const since = messages.filter(({ timestamp }) => timestamp >= run.sinceMs);
  const replies = since.filter(({ role }) => role === "assistant");
  const finalText = run.final === undefined ? "" : textOfContent(run.final.content);
  if (run.phase === "unsent") return true;
  if (messages.some(({ runId }) => runId === run.runId)) return false;
  if (run.phase === "aborted") return !replies.some(({ stopReason }) => stopReason === "aborted");
  if (run.phase === "error") return !replies.some(({ errorMessage }) => errorMessage !== undefined);
  return finalText !== "" && !replies.some(({ content }) => textOfContent(content) === finalText);
}

function newestOf(messages: readonly ChatMessage[]): number {
  return messages.at(-1)?.timestamp ?? 0;
}

/** Unchanged messages keep their identity, so that they are not rendered again. */
function reuse(old: readonly ChatMessage[], fresh: readonly ChatMessage[]): readonly ChatMessage[] {
  const known = new Map(old.map((message) => [JSON.stringify(message), message]));
  return fresh.map((message) => known.get(JSON.stringify(message)) ?? message);
}

function change(conversation: Conversation, runId: string, step: (run: Run) => Run): Conversation {
  return { ...conversation, runs: conversation.runs.map((run) => (run.runId === runId ? step(run) : run)) };
}
