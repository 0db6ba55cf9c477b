// A silent turn before a long session is summarized, in which the agent stores notes.
import type { Message } from "../core/message.ts";
import { isSubagentKey, type AgentId } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import { sandboxSettings } from "../exec/sandbox-settings.ts";
import { entryOf } from "../session/session.ts";
import type { TurnRequest } from "../session/turns.ts";
import type { SessionRecord } from "../store/store.ts";
import { cutPoint } from "./compact.ts";
import { messagesOf, type History } from "./context.ts";
import type { AgentsDeps, TurnEvent } from "./deps.ts";
import type { TurnModel } from "./turn-model.ts";
import { RESERVE_TOKENS } from "./limits.ts";
import { runLoop } from "./loop.ts";
import { failureAnswer } from "./result.ts";
import type { SessionRef } from "./fit-context.ts";
import { dayOf, timeZoneOf } from "./stamp.ts";
import { createToolAccess } from "./tools.ts";

export interface FlushInput {
  readonly turn: TurnRequest;
  readonly agentId: AgentId;
  readonly sessionRef: SessionRef;
  /** Without the message that is to be answered next. */
  readonly history: History;
  readonly contextWindow: number;
  /** The model of this turn; a different system prompt needs its own. */
  readonly turnModel: (extraSystem: string | undefined) => TurnModel;
  readonly signal: AbortSignal;
}

const MAX_MS = 90_000;
const MAX_REQUESTS = 8;
/** Only what is needed to find and write notes. */
const tools: ReadonlySet<string> = new Set(["read", "write", "edit", "memory_search", "memory_get"]);

/** Runs at most once per summary. Never throws, so that the waiting turn continues. */
export async function flushMemory(deps: AgentsDeps, input: FlushInput): Promise<void> {
  const { sessionRef, turn } = input;
  try {
    if (!isDue(deps, input)) return;
    await markStarted(deps, sessionRef);
    const { calls, failure } = await writeNotes(deps, input);
    const body = { customType: "memory-flush", toolCalls: calls, ...(failure === undefined ? {} : { failure }) };
    await deps.store.transcript.append(sessionRef.record.sessionId, [
      { id: newId(), type: "custom", at: deps.clock.now(), body },
    ]);
    if (failure !== undefined && !input.signal.aborted)
      deps.log.warn("notes could not be stored before a summary", { failure, runId: turn.runId });
  } catch (error) {
    deps.log.warn("notes could not be stored before a summary", { error, runId: turn.runId });
  }
}

function isDue(deps: AgentsDeps, { turn, agentId, sessionRef, turnModel }: FlushInput): boolean {
  const config = deps.config();
  if (config.agents?.defaults?.compaction?.memoryFlush?.enabled === false) return false;
  if (turn.heartbeat !== undefined || isSubagentKey(sessionRef.record.key)) return false;
  const subject = turnModel(undefined).subject();
  const { workspaceAccess } = sandboxSettings(config, agentId, deps.paths);
  if (subject.sandboxed && workspaceAccess !== "rw") return false;
  if (!deps.catalog.offered(subject).some(({ name }) => name === "write" || name === "edit")) return false;
  return entryOf(sessionRef.record).memoryFlushCompactionCount !== compactionsOf(sessionRef.record);
}

/** Stored before it begins, so that an interrupted flush is not repeated. */
async function markStarted({ store, clock }: AgentsDeps, sessionRef: SessionRef): Promise<void> {
  const mark = { memoryFlushAt: clock.now(), memoryFlushCompactionCount: compactionsOf(sessionRef.record) };
  const marked = await store.sessions.update(sessionRef.record.key, (current) =>
    current?.sessionId === sessionRef.record.sessionId
      ? { ...current, entry: { ...current.entry, ...mark } }
      : undefined,
  );
  sessionRef.record = marked ?? { ...sessionRef.record, entry: { ...sessionRef.record.entry, ...mark } };
}

async function writeNotes(deps: AgentsDeps, input: FlushInput): Promise<{ calls: number; failure?: string }> {
  const { prompt, systemPrompt } = deps.config().agents?.defaults?.compaction?.memoryFlush ?? {};
  const turnModel = input.turnModel(systemPrompt);
  const over = new AbortController();
  const signal = AbortSignal.any([input.signal, over.signal, AbortSignal.timeout(MAX_MS)]);
  const toolAccess = createToolAccess(deps.callTool, deps.catalog, turnModel.subject, {}, input.turn.runId);
  let requests = 0;
  const { status, toolCalls, failure } = await runLoop(
    [...recent(input, turnModel), question(prompt ?? promptFor(deps), deps.clock.now())],
    {
      model(messages, stop) {
        if (++requests <= MAX_REQUESTS) return turnModel.stream(messages, stop);
        over.abort();
        return tooMany();
      },
      reserve: turnModel.reserve,
      // The journal records the calls; the transcript must not become longer.
      append: () => {},
      save: async () => {},
      callTool: async (call, stop, progress) =>
        tools.has(call.name)
          ? toolAccess.call(call, stop, progress)
          : failureAnswer(`${call.name} is not available in this turn: store notes under memory/, or answer NO_REPLY`),
      isReadOnly: toolAccess.isReadOnly,
      isClientTool: () => false,
      emit: () => {},
      steer: () => [],
      overflow: async () => undefined,
      now: () => deps.clock.now(),
    },
    signal,
  );
  if (status === "ok") return { calls: toolCalls };
  const bound = requests > MAX_REQUESTS ? `more than ${MAX_REQUESTS} requests` : `longer than ${MAX_MS / 1000} s`;
  return { calls: toolCalls, failure: failure?.message ?? `stopped: ${bound}` };
}

async function* tooMany(): AsyncGenerator<TurnEvent> {
  yield { type: "error", error: { kind: "aborted", message: `more than ${MAX_REQUESTS} requests` } };
}

/** The end of the session, as far as it leaves tokens for the answer. */
function recent({ history, contextWindow }: FlushInput, turnModel: TurnModel): Message[] {
  const maxTokens = contextWindow - turnModel.overhead() - Math.min(RESERVE_TOKENS, contextWindow / 4);
  const from = cutPoint(history.items, maxTokens);
  return messagesOf({ items: history.items.slice(from), summary: from === 0 ? history.summary : undefined });
}

function question(text: string, timestamp: number): Message {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}

function promptFor({ clock, config }: AgentsDeps): string {
  const day = dayOf(clock.now(), timeZoneOf(config().agents?.defaults?.userTimezone));
  return `[memory] This conversation will soon be replaced by a summary. Store what must outlast it (decisions, facts about the person, open tasks) in memory/${day}.md; the file may exist, so read it first and keep its content. Do nothing else, then answer exactly NO_REPLY. If nothing is worth storing, answer exactly NO_REPLY.`;
}

function compactionsOf(record: SessionRecord): number {
  return entryOf(record).compactionCount ?? 0;
}
