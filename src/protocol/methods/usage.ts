// Usage of models over the wire: tokens and cost by day, by session and over time.
import { Type } from "../../core/schema.ts";
import { closed, method, nonEmpty, optional, returns, uncheckedMethod } from "../method.ts";

export const usageStatus = uncheckedMethod(
  "usage.status",
  "operator.read",
  returns<{ readonly updatedAt: number; readonly providers: readonly unknown[] }>(),
);
export const usageCost = uncheckedMethod("usage.cost", "operator.read", returns<UsageCostReport>());
const day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });
/** What each session used, over a range of days. */
export const sessionsUsage = method(
  "sessions.usage",
  "operator.admin",
  Type.Object(
    {
      key: optional(nonEmpty),
      startDate: optional(day),
      endDate: optional(day),
      limit: optional(Type.Integer({ minimum: 1 })),
      includeContextWeight: optional(Type.Boolean()),
    },
    closed,
  ),
  returns<SessionsUsage>(),
  { announced: false },
);
/** Unknown fields are ignored, as recorded. */
const ofSession = Type.Object({ key: optional(nonEmpty), limit: optional(Type.Integer({ minimum: 1 })) });
export const sessionsUsageTimeseries = method(
  "sessions.usage.timeseries",
  "operator.admin",
  ofSession,
  returns<UsageTimeseries>(),
  {
    announced: false,
  },
);
export const sessionsUsageLogs = method("sessions.usage.logs", "operator.admin", ofSession, returns<UsageLogs>(), {
  announced: false,
});

/** Token counts, and costs in USD. */
export interface UsageTotals {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
  readonly totalCost: number;
  readonly inputCost: number;
  readonly outputCost: number;
  readonly cacheReadCost: number;
  readonly cacheWriteCost: number;
  /** Requests whose model has no known price. */
  readonly missingCostEntries: number;
}

export interface UsageCostReport {
  readonly updatedAt: number;
  readonly days: number;
  readonly daily: readonly (UsageTotals & { readonly date: string })[];
  readonly totals: UsageTotals;
}

export interface SessionsUsage {
  readonly updatedAt: number;
  readonly startDate: string;
  readonly endDate: string;
  readonly sessions: readonly SessionUsageRow[];
  readonly totals: UsageTotals;
  readonly aggregates: UsageAggregates;
}

export interface SessionUsageRow {
  readonly key: string;
  readonly label?: string;
  readonly channel?: string;
  readonly chatType?: string;
  readonly origin?: unknown;
  readonly modelProvider?: string;
  readonly model?: string;
  readonly sessionId: string;
  readonly updatedAt: number;
  readonly agentId: string;
  readonly usage: SessionUsage;
  /** Null when it was asked for and is not known. */
  readonly contextWeight?: ContextWeight | null;
}

export interface SessionUsage extends UsageTotals {
  readonly sessionId: string;
  readonly sessionFile: string;
  readonly firstActivity: number;
  readonly lastActivity: number;
  readonly durationMs: number;
  readonly activityDates: readonly string[];
  readonly dailyBreakdown: readonly (TokensAndCost & { readonly date: string })[];
  readonly dailyMessageCounts: readonly (MessageCounts & { readonly date: string })[];
  readonly dailyLatency: readonly DailyLatency[];
  readonly dailyModelUsage: readonly DailyModelUsage[];
  readonly messageCounts: MessageCounts;
  readonly toolUsage?: ToolUsage;
  readonly modelUsage: readonly ModelUsage[];
  readonly latency?: LatencySummary;
}

export interface UsageAggregates {
  readonly messages: MessageCounts;
  readonly tools: ToolUsage;
  readonly byModel: readonly ModelUsage[];
  readonly byProvider: readonly (CountAndTotals & { readonly provider: string })[];
  readonly byAgent: readonly { readonly agentId: string; readonly totals: UsageTotals }[];
  readonly byChannel: readonly { readonly channel: string; readonly totals: UsageTotals }[];
  readonly latency?: LatencySummary;
  readonly dailyLatency: readonly DailyLatency[];
  readonly modelDaily: readonly DailyModelUsage[];
  readonly daily: readonly (TokensAndCost & {
    readonly date: string;
    readonly messages: number;
    readonly toolCalls: number;
    readonly errors: number;
  })[];
}

export interface TokensAndCost {
  readonly tokens: number;
  readonly cost: number;
}

export interface CountAndTotals {
  readonly count: number;
  readonly totals: UsageTotals;
}

export interface ModelUsage extends CountAndTotals {
  readonly provider: string;
  readonly model: string;
}

export interface DailyModelUsage extends TokensAndCost {
  readonly date: string;
  readonly provider: string;
  readonly model: string;
  readonly count: number;
}

/** Tool results are not counted in `total`. */
export interface MessageCounts {
  readonly total: number;
  readonly user: number;
  readonly assistant: number;
  readonly toolCalls: number;
  readonly toolResults: number;
  readonly errors: number;
}

export interface ToolUsage {
  readonly totalCalls: number;
  readonly uniqueTools: number;
  readonly tools: readonly { readonly name: string; readonly count: number }[];
}

export interface LatencySummary {
  readonly count: number;
  readonly avgMs: number;
  readonly p95Ms: number;
  readonly minMs: number;
  readonly maxMs: number;
}

export interface DailyLatency extends LatencySummary {
  readonly date: string;
}

/** The parts of a request before its first message, in characters. */
export interface ContextWeight {
  readonly source: "run";
  readonly generatedAt: number;
  readonly sessionId: string;
  readonly sessionKey: string;
  readonly provider: string;
  readonly model: string;
  readonly workspaceDir: string;
  readonly bootstrapMaxChars: number;
  readonly sandbox: { readonly mode: string; readonly sandboxed: boolean };
  readonly systemPrompt: {
    readonly chars: number;
    readonly projectContextChars: number;
    readonly nonProjectContextChars: number;
  };
  readonly injectedWorkspaceFiles: readonly {
    readonly name: string;
    readonly path: string;
    readonly missing: boolean;
    readonly rawChars: number;
    readonly injectedChars: number;
    readonly truncated: boolean;
  }[];
  readonly skills: { readonly promptChars: number; readonly entries: readonly unknown[] };
  readonly tools: {
    readonly listChars: number;
    readonly schemaChars: number;
    readonly entries: readonly {
      readonly name: string;
      readonly summaryChars: number;
      readonly schemaChars: number;
      readonly propertiesCount: number;
    }[];
  };
}

export interface UsageTimeseries {
  readonly sessionId: string;
  readonly points: readonly UsagePoint[];
}

export interface UsagePoint {
  readonly timestamp: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
  readonly cost: number;
  readonly cumulativeTokens: number;
  readonly cumulativeCost: number;
}

export interface UsageLogs {
  readonly logs: readonly {
    readonly timestamp: number;
    readonly role: string;
    readonly content: string;
    readonly tokens?: number;
    readonly cost?: number;
  }[];
}
