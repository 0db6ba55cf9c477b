// The rows of a conversation in order, each once: the transcript, then what it does not contain yet.
import type { Block } from "../../../src/core/message.ts";
import type { ToolOutcome } from "../../../src/protocol/methods/tools.ts";
import type { Conversation } from "./conversation.ts";
import { isOver, type Part, type Run, type RunPhase } from "./run.ts";
import { textOfContent, type ChatMessage, type Usage } from "./parse-events.ts";
import { splitSystemMessage, type SystemMessage } from "./system-message.ts";

export interface UserRow {
  readonly kind: "user";
  readonly key: string;
  readonly text: string;
  readonly pictures: readonly Block[];
  readonly atMs: number | undefined;
  /** Only for a message of this page that is not in the transcript yet. */
  readonly runId: string | undefined;
  readonly phase: RunPhase | undefined;
}

/** A message that no person typed. */
export interface SystemRow extends SystemMessage {
  readonly kind: "system";
  readonly key: string;
  readonly atMs: number | undefined;
}

export interface ReplyRow {
  readonly kind: "reply";
  readonly key: string;
  readonly text: string;
  readonly atMs: number | undefined;
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
  readonly isLive: boolean;
  /** Text before a tool call; the answer comes later. */
  readonly isStep: boolean;
}

export interface ToolRow {
  readonly kind: "tool";
  readonly key: string;
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** `open`: the transcript contains the call and no result. */
  readonly state: "running" | "done" | "failed" | "open";
  readonly outcome: ToolOutcome | undefined;
}

export interface NoticeRow {
  readonly kind: "notice";
  readonly key: string;
  readonly tone: "bad" | "quiet";
  readonly text: string;
  readonly hint: string | undefined;
}

export type Row = UserRow | SystemRow | ReplyRow | ToolRow | NoticeRow;

/** Caches the rows of an unchanged transcript, because a reply streams in hundreds of steps. */
export function createRows(): (conversation: Conversation) => readonly Row[] {
  let [messages, history]: [readonly ChatMessage[] | undefined, readonly TimedRow[]] = [undefined, []];
  return function rowsOf(conversation) {
    if (messages !== conversation.messages) {
      history = historyRows(conversation.messages);
      messages = conversation.messages;
    }
    return conversation.runs.length === 0 ? history.map(({ row }) => row) : merge(history, conversation);
  };
}

interface TimedRow {
  readonly row: Row;
  readonly atMs: number;
}

function historyRows(messages: readonly ChatMessage[]): readonly TimedRow[] {
  const calls = new Set(messages.flatMap(callsOf));
  const results = new Map(
    messages.flatMap((message) => (message.toolCallId === undefined ? [] : [[message.toolCallId, message]])),
  );
  const keys = keysOf(messages);
  const drawn = new Set<string>();
  return messages.flatMap((message, index) => {
    const rows = rowsOfMessage(message, keys[index] ?? "", { calls, results });
    const fresh = rows.filter(({ kind, key }) => kind !== "tool" || !drawn.has(key));
    for (const { key } of fresh) drawn.add(key);
    return fresh.map((row) => ({ row, atMs: message.timestamp }));
  });
}

/** Counted from the newest, so that a row keeps its key while older messages leave the window. */
function keysOf(messages: readonly ChatMessage[]): readonly string[] {
  const seen = new Map<string, number>();
  return messages
    .toReversed()
    .map(({ timestamp, role }) => {
      const stem = `${timestamp}:${role}`;
      const nth = seen.get(stem) ?? 0;
      seen.set(stem, nth + 1);
      return `${stem}:${nth}`;
    })
    .toReversed();
}

function callsOf({ content }: ChatMessage): string[] {
  return content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

interface Pairs {
  readonly calls: ReadonlySet<string>;
  readonly results: ReadonlyMap<string, ChatMessage>;
}

function rowsOfMessage(message: ChatMessage, stem: string, { calls, results }: Pairs): Row[] {
  const { role, content, timestamp: atMs } = message;
  const text = textOfContent(content);
  if (role === "user") return userRows(message, text, stem);
  if (role === "toolResult") return resultRows(message, calls);
  const tools = content.flatMap((block) =>
    block.type === "toolCall" ? [toolRow(block.id, block.name, block.arguments, results.get(block.id))] : [],
  );
  const { model, usage } = message;
  const reply: Row[] =
    text === ""
      ? []
      : [{ kind: "reply", key: stem, text, atMs, model, usage, isLive: false, isStep: tools.length > 0 }];
  return [...reply, ...tools, ...endRows(message, stem)];
}

function userRows({ content, timestamp: atMs, source }: ChatMessage, text: string, key: string): Row[] {
  const { system, typed } = splitSystemMessage(text, source);
  const pictures = content.flatMap((block) => (block.type === "image" ? [block] : []));
  const systemRows: Row[] = system === undefined ? [] : [{ kind: "system", key: `${key}:system`, ...system, atMs }];
  if (typed === undefined && pictures.length === 0) return systemRows;
  return [...systemRows, { kind: "user", key, text: typed ?? "", pictures, atMs, runId: undefined, phase: undefined }];
}

/** A result is a row of its own when its call is older than the messages read. */
function resultRows(message: ChatMessage, calls: ReadonlySet<string>): Row[] {
  const { toolCallId, toolName } = message;
  if (toolCallId === undefined || calls.has(toolCallId)) return [];
  return [toolRow(toolCallId, toolName ?? "tool", undefined, message)];
}

function toolRow(id: string, name: string, args: unknown, result: ChatMessage | undefined): ToolRow {
  const outcome =
    result === undefined
      ? undefined
      : {
          content: result.content.filter((block) => block.type === "text" || block.type === "image"),
          ...(result.details === undefined ? {} : { details: result.details }),
        };
  const state = result === undefined ? "open" : result.isError === true ? "failed" : "done";
  return { kind: "tool", key: `tool:${id}`, id, name, args, state, outcome };
}

function endRows({ stopReason, errorMessage }: ChatMessage, stem: string): Row[] {
  const key = `${stem}:end`;
  if (stopReason === "aborted") return [{ kind: "notice", key, tone: "quiet", text: "Stopped.", hint: undefined }];
  return errorMessage === undefined ? [] : [{ kind: "notice", key, tone: "bad", text: errorMessage, hint: undefined }];
}

/** Ended runs stand where they happened, running and queued ones at the end. */
function merge(history: readonly TimedRow[], conversation: Conversation): readonly Row[] {
  const known = matchTranscript(history, conversation);
  const rows = [...history];
  const tail: Row[] = [];
  for (const run of conversation.runs) {
    const own = runRows(run, known);
    const { endMs, phase } = run;
    if (endMs === undefined || phase === "unsent") {
      tail.push(...own);
      continue;
    }
    const index = rows.findIndex(({ atMs }) => atMs > endMs);
    rows.splice(index < 0 ? rows.length : index, 0, ...own.map((row) => ({ row, atMs: endMs })));
  }
  return [...rows.map(({ row }) => overlay(row, known)), ...tail];
}

interface InTranscript {
  /** Run id → time of its message in the transcript. */
  readonly sent: ReadonlyMap<string, number>;
  /** Live tool calls by id. */
  readonly live: ReadonlyMap<string, Part>;
  readonly tools: ReadonlySet<string>;
  readonly replies: readonly { readonly text: string; readonly atMs: number }[];
}

/** Each message of the transcript matches at most one message that this page sent. */
function matchTranscript(history: readonly TimedRow[], { runs }: Conversation): InTranscript {
  const users = history.flatMap(({ row, atMs }) => (row.kind === "user" ? [{ text: row.text, atMs }] : []));
  const taken = new Set<number>();
  const sent = new Map<string, number>();
  for (const run of runs) {
    const index = users.findIndex(
      ({ text, atMs }, nth) =>
        !taken.has(nth) && atMs >= run.sinceMs && run.sent !== undefined && isSameText(text, run.sent),
    );
    const found = users[index];
    if (found === undefined) continue;
    taken.add(index);
    sent.set(run.runId, found.atMs);
  }
  const tools = new Set(history.flatMap(({ row }) => (row.kind === "tool" ? [row.id] : [])));
  const live = new Map(
    runs.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === "tool" ? [[part.id, part] as const] : []))),
  );
  const replies = history.flatMap(({ row, atMs }) => (row.kind === "reply" ? [{ text: row.text, atMs }] : []));
  return { sent, live, tools, replies };
}

function runRows(run: Run, known: InTranscript): Row[] {
  const { runId, sent, phase } = run;
  const user: Row[] =
    sent === undefined || known.sent.has(runId)
      ? []
      : [{ kind: "user", key: `sent:${runId}`, text: sent, pictures: [], atMs: undefined, runId, phase }];
  const since = known.sent.get(runId) ?? run.sinceMs;
  const parts = run.parts.flatMap((part, index) => partRows(part, `${runId}:${index}`, run, { known, since }));
  return [...user, ...parts, ...failureRows(run)];
}

function partRows(part: Part, key: string, run: Run, { known, since }: { known: InTranscript; since: number }): Row[] {
  if (part.kind === "tool") {
    if (known.tools.has(part.id)) return [];
    const { id, name, args, state, outcome } = part;
    return [{ kind: "tool", key: `tool:${id}`, id, name, args, state, outcome }];
  }
  if (part.kind === "notice") return [{ kind: "notice", key, tone: "quiet", text: part.text, hint: undefined }];
  if (known.replies.some(({ text, atMs }) => atMs >= since && text === part.text)) return [];
  const isLive = !isOver(run) && part === run.parts.at(-1);
  const { final } = run;
  return [
    {
      kind: "reply",
      key,
      text: part.text,
      atMs: final?.timestamp,
      model: final?.model,
      usage: final?.usage,
      isLive,
      isStep: part !== run.parts.at(-1),
    },
  ];
}

function failureRows({ runId, phase, failure }: Run): Row[] {
  const key = `${runId}:end`;
  if (phase === "aborted") return [{ kind: "notice", key, tone: "quiet", text: "Stopped.", hint: undefined }];
  return failure === undefined || phase === "unsent"
    ? []
    : [{ kind: "notice", key, tone: "bad", text: failure.message, hint: failure.hint }];
}

/** A call without a result in the transcript may still be running. */
function overlay(row: Row, { live }: InTranscript): Row {
  if (row.kind !== "tool" || row.state !== "open") return row;
  const part = live.get(row.id);
  return part?.kind === "tool" ? { ...row, state: part.state, outcome: part.outcome } : row;
}

/** The gateway may add the time in front of the text and an id behind it. */
function isSameText(known: string, sent: string): boolean {
  const [stored, own] = [known.trim(), sent.trim()];
  return (
    stored === own ||
    stored.replace(/^\[\w{3} \d{4}-\d\d-\d\d [^\]]*\] /, "").replace(/\n\[message_id: [^\]]*\]$/, "") === own
  );
}
