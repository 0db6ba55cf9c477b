// Usage in the recorded shapes: by day, by session and in total; from stored sums, never from transcripts.
import { addActivity, noActivity, summarizeLatency, type Activity } from "../agent/activity.ts";
import {
  localDay,
  noUsage,
  addTotals,
  type Ledger,
  type LedgerQuery,
  type ModelUse,
  type SessionDay,
  type Totals,
} from "../agent/ledger.ts";
import type {
  ContextWeight,
  CountAndTotals,
  DailyLatency,
  DailyModelUsage,
  MessageCounts,
  ModelUsage,
  SessionsUsage,
  SessionUsage,
  SessionUsageRow,
  TokensAndCost,
  ToolUsage,
  UsageAggregates,
  UsageCostReport,
  UsageTotals,
} from "../protocol/methods/usage.ts";
import { entryOf } from "../session/session.ts";
import type { SessionRecord } from "../store/store.ts";

export interface Range {
  /** First and last day, both included. */
  readonly from: string;
  readonly to: string;
}

/** `usage.cost`. */
export async function costReport(
  ledger: Ledger,
  query: LedgerQuery,
): Promise<Pick<UsageCostReport, "daily" | "totals">> {
  const days = Map.groupBy(await ledger.daily(query), ({ date }) => date);
  const daily = [...days].map(([date, rows]) => ({ date, ...toWire(rows.reduce<Totals>(addTotals, noUsage)) }));
  return { daily, totals: toWire(await ledger.totals(query)) };
}

export interface SessionsReport {
  readonly ledger: Ledger;
  readonly range: Range;
  readonly records: readonly SessionRecord[];
  /** The report covers only these records; otherwise the sums cover everything in the range. */
  readonly only: boolean;
  readonly includeContextWeight: boolean;
  /** Where transcripts are stored. */
  readonly file: string;
}

/** `sessions.usage`, without its dates. */
export async function sessionsReport(
  report: SessionsReport,
): Promise<Pick<SessionsUsage, "sessions" | "totals" | "aggregates">> {
  const { ledger, range, records, only, includeContextWeight, file } = report;
  const sessions: SessionUse[] = [];
  // One after the other, so that a thousand sessions do not block other requests.
  for (const record of records)
    sessions.push({
      record,
      days: await ledger.sessionDays(record.key, range),
      context: includeContextWeight ? ((await ledger.context(record.key)) ?? null) : undefined,
    });
  const facts = only ? sessions.flatMap(factsOf) : await factsOfAll(ledger, range);
  const shown = only ? sessions : activeIn(sessions, range);
  return {
    sessions: shown.map((session) => sessionRow(session, file)),
    totals: toWire(sumOf(facts.flatMap(({ used }) => used))),
    aggregates: { ...aggregatesOf(facts), byChannel: byChannel(shown) },
  };
}

interface SessionUse {
  readonly record: SessionRecord;
  readonly days: readonly SessionDay[];
  /** Undefined when it was not requested. */
  readonly context: ContextWeight | null | undefined;
}

/**
 * Also includes sessions whose activity was not counted when they were last used. A transcript with two keys, such as
 * a cron job and its last run, is one row: the key under which its usage was counted.
 */
function activeIn(sessions: readonly SessionUse[], { from, to }: Range): SessionUse[] {
  const counted = new Set(sessions.flatMap(({ record, days }) => (days.length > 0 ? [record.sessionId] : [])));
  return sessions.filter(({ record, days }) => {
    const date = localDay(record.updatedAt);
    return days.length > 0 || (!counted.has(record.sessionId) && date >= from && date <= to);
  });
}

/** Usage on one day by one agent. */
interface DayFacts {
  readonly date: string;
  readonly agentId: string;
  readonly used: readonly ModelUse[];
  readonly activity: Activity;
}

const factsOf = ({ record, days }: SessionUse): DayFacts[] => days.map((day) => ({ ...day, agentId: record.agentId }));

async function factsOfAll(ledger: Ledger, range: Range): Promise<DayFacts[]> {
  const [daily, activity] = await Promise.all([ledger.daily(range), ledger.activity(range)]);
  const models = daily.map(({ date, agentId, provider, model, ...totals }): DayFacts => ({
    date,
    agentId,
    used: [{ provider, model, totals }],
    activity: noActivity,
  }));
  return [...models, ...activity.map((row): DayFacts => ({ ...row, used: [] }))];
}

function sessionRow({ record, days, context }: SessionUse, file: string): SessionUsageRow {
  const { key, sessionId, updatedAt, agentId, label } = record;
  const { channel, lastChannel, chatType, origin, modelProvider, model } = entryOf(record);
  const shown = { label, channel: channel ?? lastChannel, chatType, origin, modelProvider, model };
  return {
    key,
    ...Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined)),
    sessionId,
    updatedAt,
    agentId,
    usage: sessionUsage(record, days, file),
    ...(context === undefined ? {} : { contextWeight: context }),
  };
}

function sessionUsage(
  { sessionId, updatedAt }: SessionRecord,
  days: readonly SessionDay[],
  file: string,
): SessionUsage {
  const activity = activityOf(days);
  const used = days.flatMap((day) => day.used);
  const firstActivity = Math.min(...days.map(({ firstAt }) => firstAt), updatedAt);
  const lastActivity = days.length === 0 ? updatedAt : Math.max(...days.map(({ lastAt }) => lastAt));
  const latency = summarizeLatency(activity.latency);
  return {
    sessionId,
    sessionFile: file,
    firstActivity,
    lastActivity,
    durationMs: Math.max(0, lastActivity - firstActivity),
    activityDates: days.map(({ date }) => date),
    dailyBreakdown: days.map((day) => ({ date: day.date, ...tokensAndCost(sumOf(day.used)) })),
    dailyMessageCounts: days.map((day) => ({ date: day.date, ...messageCounts(day.activity) })),
    dailyLatency: dailyLatency(days),
    dailyModelUsage: modelDaily(days),
    messageCounts: messageCounts(activity),
    ...(activity.toolCalls === 0 ? {} : { toolUsage: toolUsage(activity) }),
    modelUsage: byModel(used),
    ...(latency === undefined ? {} : { latency }),
    ...toWire(sumOf(used)),
  };
}

function aggregatesOf(facts: readonly DayFacts[]): Omit<UsageAggregates, "byChannel"> {
  const activity = activityOf(facts);
  const used = facts.flatMap((day) => day.used);
  const latency = summarizeLatency(activity.latency);
  const dates = [...Map.groupBy(facts, ({ date }) => date)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const agents = Map.groupBy(facts, ({ agentId }) => agentId);
  return {
    messages: messageCounts(activity),
    tools: toolUsage(activity),
    byModel: byModel(used),
    byProvider: grouped(used, ({ provider }) => provider).map(([provider, uses]) => ({
      provider,
      ...countAndTotals(uses),
    })),
    byAgent: [...agents].map(([agentId, days]) => ({
      agentId,
      totals: toWire(sumOf(days.flatMap((day) => day.used))),
    })),
    ...(latency === undefined ? {} : { latency }),
    dailyLatency: dates.flatMap(([, days]) => dailyLatency(mergeDays(days))),
    modelDaily: modelDaily(dates.flatMap(([, days]) => mergeDays(days))),
    daily: dates.map(([date, days]) => {
      const { user, assistant, toolCalls, errors } = activityOf(days);
      const sum = tokensAndCost(sumOf(days.flatMap((day) => day.used)));
      return { date, ...sum, messages: user + assistant, toolCalls, errors };
    }),
  };
}

type Day = Pick<DayFacts, "date" | "used" | "activity">;

/** Merges the facts of each day. */
function mergeDays(days: readonly Day[]): Day[] {
  const [first] = days;
  if (first === undefined) return [];
  return [{ date: first.date, used: days.flatMap(({ used }) => used), activity: activityOf(days) }];
}

const activityOf = (days: readonly Day[]): Activity =>
  days.reduce((sum, { activity }) => addActivity(sum, activity), noActivity);

const sumOf = (used: readonly ModelUse[]): Totals => used.reduce((sum, { totals }) => addTotals(sum, totals), noUsage);

function byModel(used: readonly ModelUse[]): ModelUsage[] {
  return grouped(used, ({ provider, model }) => `${provider}/${model}`).map(([, uses]) => ({
    provider: uses[0]?.provider ?? "",
    model: uses[0]?.model ?? "",
    ...countAndTotals(uses),
  }));
}

function modelDaily(days: readonly Day[]): DailyModelUsage[] {
  return days.flatMap(({ date, used }) =>
    grouped(used, ({ provider, model }) => `${provider}/${model}`).map(([, uses]) => ({
      date,
      provider: uses[0]?.provider ?? "",
      model: uses[0]?.model ?? "",
      ...tokensAndCost(sumOf(uses)),
      count: sumOf(uses).calls,
    })),
  );
}

function dailyLatency(days: readonly Day[]): DailyLatency[] {
  return days.flatMap(({ date, activity }) => {
    const latency = summarizeLatency(activity.latency);
    return latency === undefined ? [] : [{ date, ...latency }];
  });
}

function byChannel(sessions: readonly SessionUse[]): UsageAggregates["byChannel"] {
  const channels = Map.groupBy(sessions, ({ record }) => entryOf(record).channel ?? entryOf(record).lastChannel ?? "");
  return [...channels].flatMap(([channel, list]) =>
    channel === ""
      ? []
      : [{ channel, totals: toWire(sumOf(list.flatMap(({ days }) => days.flatMap(({ used }) => used)))) }],
  );
}

/** The most used first. */
function grouped(used: readonly ModelUse[], keyOf: (use: ModelUse) => string): [string, ModelUse[]][] {
  return [...Map.groupBy(used, keyOf)].toSorted(([, a], [, b]) => sumOf(b).totalTokens - sumOf(a).totalTokens);
}

function countAndTotals(uses: readonly ModelUse[]): CountAndTotals {
  const sum = sumOf(uses);
  return { count: sum.calls, totals: toWire(sum) };
}

const tokensAndCost = ({ totalTokens, costUsd }: Totals): TokensAndCost => ({ tokens: totalTokens, cost: costUsd });

/** Tool results belong to their calls and are not counted as messages. */
function messageCounts({ user, assistant, toolCalls, toolResults, errors }: Activity): MessageCounts {
  return { total: user + assistant, user, assistant, toolCalls, toolResults, errors };
}

function toolUsage({ tools, toolCalls }: Activity): ToolUsage {
  const list = Object.entries(tools).map(([name, count]) => ({ name, count }));
  return {
    totalCalls: toolCalls,
    uniqueTools: list.length,
    tools: list.toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1)),
  };
}

function toWire(totals: Totals): UsageTotals {
  const { input, output, cacheRead, cacheWrite, totalTokens, costUsd } = totals;
  const { inputCost, outputCost, cacheReadCost, cacheWriteCost, missingCostEntries } = totals;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens,
    totalCost: costUsd,
    inputCost,
    outputCost,
    cacheReadCost,
    cacheWriteCost,
    missingCostEntries,
  };
}
