// What was used, by day, agent and model, and by session; kept as sums, so that nobody ever reads transcripts to count.
import type { Usage } from "../core/message.ts";
import { Lru } from "../base/lru.ts";
import type { Clock } from "../base/clock.ts";
import type { Store } from "../store/store.ts";

export interface LedgerEntry {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly costUsd: number;
  /** Requests to the model. */
  readonly calls: number;
  readonly durationMs: number;
}

export interface Totals {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
  readonly costUsd: number;
  readonly calls: number;
  readonly minutes: number;
  readonly runs: number;
}

export interface DayRow extends Totals {
  /** `YYYY-MM-DD` by the host's clock. */
  readonly date: string;
  readonly agentId: string;
  readonly provider: string;
  readonly model: string;
}

export interface LedgerQuery {
  readonly agentId?: string;
  /** First and last day, both included. */
  readonly from?: string;
  readonly to?: string;
}

export interface Ledger {
  /** Counts it, once; the write that it resolves with stores the sums and may be repeated. */
  book(entry: LedgerEntry): Promise<() => Promise<void>>;
  totals(query: LedgerQuery): Promise<Totals>;
  /** One row a day, agent and model, oldest first. */
  daily(query: LedgerQuery): Promise<DayRow[]>;
  session(sessionKey: string): Promise<Totals>;
  today(agentId?: string): Promise<Totals>;
}

export const nothing: Totals = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  costUsd: 0,
  calls: 0,
  minutes: 0,
  runs: 0,
};

const DAYS = "usage.day";
const SESSIONS = "usage.session";

export function createLedger(store: Pick<Store, "kv">, clock: Pick<Clock, "now">): Ledger {
  // The days are few and asked for at every turn: read once, then kept here.
  let days: Promise<Map<string, Totals>> | undefined;
  const sessions = new Lru<{ totals: Totals }>(512);
  const loadDays = (): Promise<Map<string, Totals>> =>
    (days ??= store.kv.list(DAYS).then((rows) => new Map(rows.map(({ key, value }) => [key, totalsFrom(value)]))));
  const loadSession = async (key: string): Promise<{ totals: Totals }> => {
    const stored = sessions.get(key) ?? { totals: totalsFrom(await store.kv.get(SESSIONS, key)) };
    const known = sessions.get(key) ?? stored;
    sessions.set(key, known);
    return known;
  };
  const rows = async (query: LedgerQuery): Promise<DayRow[]> =>
    [...(await loadDays())]
      .map(([key, totals]) => toRow(key, totals))
      .filter((row) => fits(row, query))
      .toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  const totals = async (query: LedgerQuery): Promise<Totals> => (await rows(query)).reduce<Totals>(plus, nothing);

  return {
    async book(entry) {
      const [byDay, session] = await Promise.all([loadDays(), loadSession(entry.sessionKey)]);
      const key = [localDay(clock.now()), entry.agentId, entry.provider, entry.model].join("|");
      const more = totalsOf(entry);
      // Sums change here at once, and a write holds the sums of its moment: the last one holds all of them.
      const day = plus(byDay.get(key) ?? nothing, more);
      byDay.set(key, day);
      session.totals = plus(session.totals, more);
      return () =>
        store.kv.setAll([
          { space: DAYS, key, value: byDay.get(key) },
          { space: SESSIONS, key: entry.sessionKey, value: session.totals },
        ]);
    },
    totals,
    daily: rows,
    session: async (sessionKey) => (await loadSession(sessionKey)).totals,
    today(agentId) {
      const day = localDay(clock.now());
      return totals({ from: day, to: day, ...(agentId === undefined ? {} : { agentId }) });
    },
  };
}

export function localDay(at: number): string {
  const day = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

export function plus(a: Totals, b: Totals): Totals {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
    costUsd: a.costUsd + b.costUsd,
    calls: a.calls + b.calls,
    minutes: a.minutes + b.minutes,
    runs: a.runs + b.runs,
  };
}

function totalsOf({ usage, costUsd, calls, durationMs }: LedgerEntry): Totals {
  return { ...usage, costUsd, calls, minutes: durationMs / 60_000, runs: 1 };
}

function totalsFrom(value: unknown): Totals {
  if (typeof value !== "object" || value === null) return nothing;
  const stored = value as Partial<Record<keyof Totals, unknown>>;
  const of = (key: keyof Totals): number => (typeof stored[key] === "number" ? stored[key] : 0);
  return {
    input: of("input"),
    output: of("output"),
    cacheRead: of("cacheRead"),
    cacheWrite: of("cacheWrite"),
    totalTokens: of("totalTokens"),
    costUsd: of("costUsd"),
    calls: of("calls"),
    minutes: of("minutes"),
    runs: of("runs"),
  };
}

function toRow(key: string, totals: Totals): DayRow {
  const [date = "", agentId = "", provider = "", ...model] = key.split("|");
  return { date, agentId, provider, model: model.join("|"), ...totals };
}

function fits(row: DayRow, { agentId, from, to }: LedgerQuery): boolean {
  return (
    (agentId === undefined || row.agentId === agentId) &&
    (from === undefined || row.date >= from) &&
    (to === undefined || row.date <= to)
  );
}
