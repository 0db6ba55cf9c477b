// Counts what happened in a session or on a day: messages, tool calls, errors, and the durations of answers.
import { isRecord } from "../core/record.ts";
import type { Message } from "../core/message.ts";
import type { LatencySummary } from "../protocol/methods/usage.ts";

export type { LatencySummary };

export interface Activity {
  readonly user: number;
  readonly assistant: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly errors: number;
  /** Calls by tool name. */
  readonly tools: Readonly<Record<string, number>>;
  readonly latency: Latency;
}

/** Durations of answers, bounded however many there are. */
export interface Latency {
  readonly count: number;
  readonly totalMs: number;
  readonly minMs: number;
  readonly maxMs: number;
  /** Answers by bucket; each bucket is 5% wider than the one before. */
  readonly buckets: Readonly<Record<string, number>>;
}

const noLatency: Latency = { count: 0, totalMs: 0, minMs: 0, maxMs: 0, buckets: {} };

export const noActivity: Activity = {
  user: 0,
  assistant: 0,
  toolCalls: 0,
  toolResults: 0,
  errors: 0,
  tools: {},
  latency: noLatency,
};

/** A model can invent names; further names are counted together. */
const MAX_TOOLS = 200;
const OTHER_TOOLS = "other";

export function activityOf(message: Message): Activity {
  if (message.role === "user") return { ...noActivity, user: 1 };
  if (message.role === "toolResult") return { ...noActivity, toolResults: 1, errors: message.isError ? 1 : 0 };
  const names = message.content.flatMap((block) => (block.type === "toolCall" ? [block.name] : []));
  const tools = Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
  return { ...noActivity, assistant: 1, toolCalls: names.length, tools };
}

export function answeredIn(ms: number): Activity {
  const time = Math.max(0, Math.round(ms));
  return {
    ...noActivity,
    latency: { count: 1, totalMs: time, minMs: time, maxMs: time, buckets: { [bucketOf(time)]: 1 } },
  };
}

export function addActivity(a: Activity, b: Activity): Activity {
  return {
    user: a.user + b.user,
    assistant: a.assistant + b.assistant,
    toolCalls: a.toolCalls + b.toolCalls,
    toolResults: a.toolResults + b.toolResults,
    errors: a.errors + b.errors,
    tools: addTools(a.tools, b.tools),
    latency: addLatency(a.latency, b.latency),
  };
}

/** The 95th percentile is exact to 5%. Undefined without answers. */
export function summarizeLatency({ count, totalMs, minMs, maxMs, buckets }: Latency): LatencySummary | undefined {
  if (count === 0) return undefined;
  let left = Math.ceil(count * 0.95);
  const sorted = Object.entries(buckets).toSorted(([a], [b]) => Number(a) - Number(b));
  const [bucket = "0"] = sorted.find(([, found]) => (left -= found) <= 0) ?? sorted.at(-1) ?? [];
  const p95Ms = Math.min(maxMs, Math.max(minMs, Math.round(GROWTH ** Number(bucket))));
  return { count, avgMs: totalMs / count, p95Ms, minMs, maxMs };
}

/** Reads a stored row; missing or damaged fields count as zero. */
export function readActivity(value: unknown): Activity {
  const row = isRecord(value) ? value : {};
  const latency = isRecord(row["latency"]) ? row["latency"] : {};
  return {
    user: numberIn(row, "user"),
    assistant: numberIn(row, "assistant"),
    toolCalls: numberIn(row, "toolCalls"),
    toolResults: numberIn(row, "toolResults"),
    errors: numberIn(row, "errors"),
    tools: numbersIn(row["tools"]),
    latency: {
      count: numberIn(latency, "count"),
      totalMs: numberIn(latency, "totalMs"),
      minMs: numberIn(latency, "minMs"),
      maxMs: numberIn(latency, "maxMs"),
      buckets: numbersIn(latency["buckets"]),
    },
  };
}

const GROWTH = 1.05;

const bucketOf = (ms: number): number => (ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(GROWTH)));

function addLatency(a: Latency, b: Latency): Latency {
  if (a.count === 0 || b.count === 0) return a.count === 0 ? b : a;
  return {
    count: a.count + b.count,
    totalMs: a.totalMs + b.totalMs,
    minMs: Math.min(a.minMs, b.minMs),
    maxMs: Math.max(a.maxMs, b.maxMs),
    buckets: addCounts(a.buckets, b.buckets),
  };
}

function addTools(a: Activity["tools"], b: Activity["tools"]): Activity["tools"] {
  const sum = addCounts(a, b);
  const names = Object.keys(sum);
  if (names.length <= MAX_TOOLS) return sum;
  const kept = names.filter((name) => name !== OTHER_TOOLS).slice(0, MAX_TOOLS - 1);
  const rest = names.filter((name) => !kept.includes(name)).reduce((total, name) => total + (sum[name] ?? 0), 0);
  return { ...Object.fromEntries(kept.map((name) => [name, sum[name] ?? 0])), [OTHER_TOOLS]: rest };
}

function addCounts(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> {
  const sum = new Map(Object.entries(a));
  for (const [name, count] of Object.entries(b)) sum.set(name, (sum.get(name) ?? 0) + count);
  return Object.fromEntries(sum);
}

const numberIn = (row: Record<string, unknown>, key: string): number => (typeof row[key] === "number" ? row[key] : 0);

function numbersIn(value: unknown): Record<string, number> {
  const entries = Object.entries(isRecord(value) ? value : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === "number"));
}
