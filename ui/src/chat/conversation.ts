// One session as the page knows it: what the transcript holds, and the runs that are not in it yet. Pure.
import { applyChange, isOver, newRun, type Run } from "./run.ts";
import { textOfContent, type ChatMessage, type RunEvent } from "./parse-events.ts";

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  /** In the order in which they were sent or first heard of. */
  readonly runs: readonly Run[];
  /** Runs the transcript has taken over; what is still heard of them is old. */
  readonly done: readonly string[];
}

export const emptyConversation: Conversation = { messages: [], runs: [], done: [] };

const mostDone = 200;

export function withSent(conversation: Conversation, runId: string, text: string): Conversation {
  const run = newRun(runId, newestOf(conversation.messages) + 1, text, "sending");
  return { ...conversation, runs: [...conversation.runs, run] };
}

/** The gateway took the message; it waits while another run of the session is on. */
export function withAccepted(conversation: Conversation, runId: string): Conversation {
  const isBehind = conversation.runs.some((run) => run.runId !== runId && isRunning(run));
  return change(conversation, runId, (run) =>
    run.phase === "sending" || run.phase === "unsent" ? { ...run, phase: isBehind ? "queued" : "running" } : run,
  );
}

export function withUnsent(conversation: Conversation, runId: string, message: string, hint?: string): Conversation {
  return change(conversation, runId, (run) => ({ ...run, phase: "unsent", failure: { message, hint } }));
}

/** A run that ended while nobody listened; its words are in the transcript. */
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
 * Takes the transcript as it is now. `covered` are the runs that were over when it was asked for: whatever of them
 * belongs into the transcript is in it, so only what it does not hold (answers of commands, failures) stays with them.
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

/** After a reconnect nobody knows what became of runs that others started; those still on will be heard of again. */
export function withoutOtherClients(conversation: Conversation): Conversation {
  return { ...conversation, runs: conversation.runs.filter((run) => run.sent !== undefined || isOver(run)) };
}

export function isRunning({ phase }: Run): boolean {
  return phase === "running";
}

/** Something of the run that the transcript does not show. */
function isMissingFromTranscript(messages: readonly ChatMessage[], run: Run): boolean {
  const since = messages.filter(({ timestamp }) => timestamp >= run.sinceMs);
  const said = since.filter(({ role }) => role === "assistant");
  const words = run.final === undefined ? "" : textOfContent(run.final.content);
  if (run.phase === "unsent") return true;
  if (run.phase === "aborted") return !said.some(({ stopReason }) => stopReason === "aborted");
  if (run.phase === "error") return !said.some(({ errorMessage }) => errorMessage !== undefined);
  return words !== "" && !said.some(({ content }) => textOfContent(content) === words);
}

function newestOf(messages: readonly ChatMessage[]): number {
  return messages.at(-1)?.timestamp ?? 0;
}

/** Messages that did not change keep their identity, so that nothing of them is drawn again. */
function reuse(old: readonly ChatMessage[], fresh: readonly ChatMessage[]): readonly ChatMessage[] {
  const known = new Map(old.map((message) => [JSON.stringify(message), message]));
  return fresh.map((message) => known.get(JSON.stringify(message)) ?? message);
}

function change(conversation: Conversation, runId: string, step: (run: Run) => Run): Conversation {
  return { ...conversation, runs: conversation.runs.map((run) => (run.runId === runId ? step(run) : run)) };
}
