// One session over time, from the end of its transcript: the usage of each reply, and its messages.
import { textOf, type Message, type Usage } from "../core/message.ts";
import { contextOf } from "../agent/usage.ts";
import type { UsageLogs, UsageTimeseries } from "../protocol/methods/usage.ts";
import type { SessionRecord, StoredEntry, TranscriptTable } from "../store/store.ts";

const PAGE = 200;
const MAX_POINTS = 1000;
const MAX_LOGS = 1000;
const MAX_CHARS = 2000;
/** No more entries of a transcript are read than this. */
const MAX_ENTRIES = 5000;

export interface SessionSums {
  readonly totalTokens: number;
  readonly costUsd: number;
}

/** `sessions.usage.timeseries`: the latest replies, each with the running sum. `sums` are those of the session. */
export async function timeline(
  transcript: TranscriptTable,
  { sessionId }: SessionRecord,
  sums: SessionSums,
): Promise<UsageTimeseries> {
  const answers = await latest(transcript, sessionId, MAX_POINTS, (entry) => {
    const message = messageIn(entry);
    if (message?.role !== "assistant" || message.usage === undefined) return undefined;
    return { timestamp: message.timestamp, ...partsOf(message.usage) };
  });
  const shown = answers.reduce(
    (sum, { totalTokens, cost }) => ({ tokens: sum.tokens + totalTokens, cost: sum.cost + cost }),
    { tokens: 0, cost: 0 },
  );
  // A transcript that is shown completely starts at zero; else the sum of the omitted part comes first.
  const isWhole = answers.length < MAX_POINTS && (await transcript.count(sessionId)) <= MAX_ENTRIES;
  let tokens = isWhole ? 0 : Math.max(0, sums.totalTokens - shown.tokens);
  let cost = isWhole ? 0 : Math.max(0, sums.costUsd - shown.cost);
  const points = answers.map((answer) => {
    tokens += answer.totalTokens;
    cost += answer.cost;
    return { ...answer, cumulativeTokens: tokens, cumulativeCost: cost };
  });
  return { sessionId, points };
}

/** `sessions.usage.logs`: the latest messages, shortened, with secrets redacted. */
export async function messageLog(
  transcript: TranscriptTable,
  { sessionId }: SessionRecord,
  limit: number,
  mask: (text: string) => string,
): Promise<UsageLogs> {
  const logs = await latest(transcript, sessionId, Math.min(limit, MAX_LOGS), (entry) => {
    const message = messageIn(entry);
    if (message === undefined) return undefined;
    const usage = message.role === "assistant" ? message.usage : undefined;
    return {
      timestamp: message.timestamp,
      role: message.role,
      content: shorten(mask(contentOf(message))),
      ...(usage === undefined ? {} : { tokens: contextOf(usage), cost: usage.cost?.total ?? 0 }),
    };
  });
  return { logs };
}

/** The newest entries for which `take` returns a value, oldest first. */
async function latest<T>(
  transcript: TranscriptTable,
  sessionId: string,
  limit: number,
  take: (entry: StoredEntry) => T | undefined,
): Promise<T[]> {
  const found: T[] = [];
  let before: number | undefined;
  for (let seen = 0; seen < MAX_ENTRIES && found.length < limit; seen += PAGE) {
    const page = await transcript.tail(sessionId, PAGE, before);
    found.push(...page.toReversed().flatMap((entry) => take(entry) ?? []));
    before = page[0]?.seq;
    if (page.length < PAGE) break;
  }
  return found.slice(0, limit).toReversed();
}

function messageIn({ type, body }: StoredEntry): Message | undefined {
  return type === "message" ? (body as Message) : undefined;
}

function partsOf(usage: Usage) {
  const { input, output, cacheRead, cacheWrite, cost } = usage;
  return { input, output, cacheRead, cacheWrite, totalTokens: contextOf(usage), cost: cost?.total ?? 0 };
}

function contentOf(message: Message): string {
  const text = textOf(message.content);
  if (message.role === "toolResult") return `[Tool: ${message.toolName}]\n[Tool Result]\n${text}`;
  const calls = message.content.flatMap((block) => (block.type === "toolCall" ? [`[Tool: ${block.name}]`] : []));
  return [text, ...calls].filter((line) => line !== "").join("\n");
}

function shorten(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS).toWellFormed()}…`;
}
