// Usage of models: cost by day, by session and over time, from the ledger and the transcripts.
import { OpenClawError } from "../../core/error.ts";
import { DAY_MS } from "../../base/duration.ts";
import * as methods from "../../protocol/methods/usage.ts";
import { localDay, noUsage, addTotals, type Ledger, type Totals } from "../../agent/ledger.ts";
import { defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import { findSession } from "../../session/session.ts";
import type { SessionRecord } from "../../store/store.ts";
import type { GatewayContext } from "../context.ts";
import { serve, type Served } from "../dispatch.ts";

const MAX_SESSIONS = 1000;

export function usageMethods(context: GatewayContext, ledger: Ledger): Served[] {
  const { clock } = context;
  return [
    serve(methods.usageStatus)(() => ({ updatedAt: clock.now(), providers: [] })),
    serve(methods.usageCost)(async (params) => {
      const { from, to, days } = rangeOf(params, clock.now());
      const { agentId } = params;
      const { costReport } = await import("../usage-report.ts");
      const report = await costReport(ledger, { from, to, ...(typeof agentId === "string" ? { agentId } : {}) });
      return { updatedAt: clock.now(), days, ...report };
    }),
    serve(methods.sessionsUsage)(async (params) => {
      const { from, to } = rangeOf(params, clock.now());
      const { sessionsReport } = await import("../usage-report.ts");
      const report = await sessionsReport({
        ledger,
        range: { from, to },
        records: await sessionsFor(context, params, from),
        only: params.key !== undefined,
        includeContextWeight: params.includeContextWeight === true,
        file: context.storeFile,
      });
      return { updatedAt: clock.now(), startDate: from, endDate: to, ...report };
    }),
    serve(methods.sessionsUsageTimeseries)(async ({ key }) => {
      if (key === undefined) throw new OpenClawError("wire.invalid-request", "key is required for timeseries");
      const record = await knownSession(context, key);
      if (record === undefined)
        throw new OpenClawError("wire.invalid-request", `No transcript found for session: ${key.slice(0, 200)}`);
      const { timeline } = await import("../usage-timeline.ts");
      return timeline(context.store.transcript, record, await usedIn(record.key));
    }),
    serve(methods.sessionsUsageLogs)(async ({ key, limit = 100 }) => {
      if (key === undefined) throw new OpenClawError("wire.invalid-request", "key is required for logs");
      const record = await knownSession(context, key);
      if (record === undefined) return { logs: [] };
      const { messageLog } = await import("../usage-timeline.ts");
      return messageLog(context.store.transcript, record, limit, context.mask);
    }),
  ];

  async function usedIn(sessionKey: string): Promise<Totals> {
    const days = await ledger.sessionDays(sessionKey, {});
    return days.flatMap(({ used }) => used).reduce((sum, { totals }) => addTotals(sum, totals), noUsage);
  }
}

/** One session, or those active since the first day, newest first. */
async function sessionsFor(
  { store, config }: GatewayContext,
  { key, limit = MAX_SESSIONS }: { readonly key?: string; readonly limit?: number },
  from: string,
): Promise<readonly SessionRecord[]> {
  if (key === undefined)
    return store.sessions.list({ activeSince: Date.parse(`${from}T00:00:00`), limit: Math.min(limit, MAX_SESSIONS) });
  const record = await knownSession({ store, config }, key);
  return record === undefined ? [] : [record];
}

/** By key in any spelling, or by session id. Undefined when it does not exist or is neither. */
async function knownSession(
  { store, config }: Pick<GatewayContext, "store" | "config">,
  key: string,
): Promise<SessionRecord | undefined> {
  try {
    return await findSession(store.sessions, key, {
      defaultAgent: defaultAgentId(config()),
      mainKey: mainKeyOf(config()),
    });
  } catch (error) {
    if (error instanceof OpenClawError) return undefined;
    throw error;
  }
}

function rangeOf(params: Record<string, unknown>, now: number): { from: string; to: string; days: number } {
  const word = (name: string): string | undefined => {
    const value = params[name];
    return typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value))
      ? value
      : undefined;
  };
  const wanted =
    typeof params["days"] === "number" && params["days"] > 0 ? Math.min(366, Math.floor(params["days"])) : 30;
  const to = word("endDate") ?? localDay(now);
  const from = word("startDate") ?? localDay(now - (wanted - 1) * DAY_MS);
  return { from, to, days: Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1) };
}
