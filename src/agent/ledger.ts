// Usage by day, agent, model and session, stored as sums, so that no transcript is read to count.
import { isRecord } from "../core/record.ts";
import { sha256 } from "../base/ids.ts";
import { Lru } from "../base/lru.ts";
import type { Clock } from "../base/clock.ts";
import { SESSION_USAGE, SESSION_USAGE_SEPARATOR, type KvWrite, type Store } from "../store/store.ts";
import { addActivity, noActivity, readActivity, type Activity } from "./activity.ts";
import type { ContextWeight } from "./context-weight.ts";

export interface LedgerEntry {
  readonly agentId: string;
  readonly sessionKey: string;
  /** By model, in the order of their first answer; empty when no model was asked. */
  readonly used: readonly ModelUse[];
  readonly activity?: Activity;
  /** The parts of its last request. */
  readonly context?: ContextWeight;
  /** When the run began. */
  readonly startedAt?: number;
}

export interface ModelUse {
  readonly provider: string;
  readonly model: string;
  readonly totals: Totals;
}

/** Costs are in USD. */
export type Totals = Readonly<Record<(typeof totalFields)[number], number>>;

const totalFields = [
  "input",
  "output",
  "cacheRead",
  "cacheWrite",
  "totalTokens",
  "costUsd",
  "inputCost",
  "outputCost",
  "cacheReadCost",
  "cacheWriteCost",
  /** Answers of models whose price is not known. */
  "missingCostEntries",
  /** Requests to models. */
  "calls",
  "minutes",
  "runs",
] as const;

export interface DayRow extends Totals {
  /** `YYYY-MM-DD` by the host's clock. */
  readonly date: string;
  readonly agentId: string;
  readonly provider: string;
  readonly model: string;
}

/** What one agent did on one day. */
export interface ActivityRow {
  readonly date: string;
  readonly agentId: string;
  readonly activity: Activity;
}

/** What happened in one session on one day. */
export interface SessionDay {
  readonly date: string;
  readonly used: readonly ModelUse[];
  readonly activity: Activity;
  readonly firstAt: number;
  readonly lastAt: number;
}

export interface LedgerQuery {
  readonly agentId?: string;
  /** First and last day, both included. */
  readonly from?: string;
  readonly to?: string;
}

export interface Ledger {
  /** Counts the entry once. Resolves with the write that stores the sums, which can be repeated. */
  book(entry: LedgerEntry): Promise<() => Promise<void>>;
  totals(query: LedgerQuery): Promise<Totals>;
  /** One row per day, agent and model, oldest first. */
  daily(query: LedgerQuery): Promise<DayRow[]>;
  session(sessionKey: string): Promise<Totals>;
  today(agentId?: string): Promise<Totals>;
  /** One row per day and agent, oldest first. */
  activity(query: LedgerQuery): Promise<ActivityRow[]>;
  /** One row per day with activity in the session, also before it was reset; oldest first. */
  sessionDays(sessionKey: string, query: Pick<LedgerQuery, "from" | "to">): Promise<SessionDay[]>;
  /** Undefined when no model was asked in the session. */
  context(sessionKey: string): Promise<ContextWeight | undefined>;
}

export const noUsage: Totals = mapTotals(() => 0);

const DAYS = "usage.day";
const SESSIONS = "usage.session";
const ACTIVITY = "usage.activity";
/** The last part of a key; other keys have their day there. */
const CONTEXT = "context";

const partKey = (sessionKey: string, part: string): string => sessionKey + SESSION_USAGE_SEPARATOR + part;

export function createLedger(store: Pick<Store, "kv">, clock: Pick<Clock, "now">): Ledger {
  // Every turn reads the days, so they are cached.
  let days: Promise<Map<string, Totals>> | undefined;
  const loadDays = (): Promise<Map<string, Totals>> =>
    (days ??= store.kv.list(DAYS).then((rows) => new Map(rows.map(({ key, value }) => [key, totalsFrom(value)]))));
  const sessions = createRows(store, SESSIONS, totalsFrom);
  const activities = createRows(store, ACTIVITY, readActivity);
  const sessionDays = createRows(store, SESSION_USAGE, sessionDayFrom);
  const contexts = new Lru<string>(512);
  const rows = async (query: LedgerQuery): Promise<DayRow[]> =>
    [...(await loadDays())]
      .map(([key, totals]) => toRow(key, totals))
      .filter((row) => fits(row, query))
      .toSorted((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  const totals = async (query: LedgerQuery): Promise<Totals> => (await rows(query)).reduce<Totals>(addTotals, noUsage);

  return {
    async book({ agentId, sessionKey, used, activity = noActivity, startedAt, context }) {
      const now = clock.now();
      const date = localDay(now);
      const [byDay, session, ofDay, ofSession] = await Promise.all([
        loadDays(),
        sessions.load(sessionKey),
        activities.load(`${date}|${agentId}`),
        sessionDays.load(partKey(sessionKey, date)),
      ]);
      // Sums change here immediately; a write stores the sums of its moment, so the last write stores all.
      const dayWrites = used.map(({ provider, model, totals: more }) => {
        const key = [date, agentId, provider, model].join("|");
        byDay.set(key, addTotals(byDay.get(key) ?? noUsage, more));
        return (): KvWrite => ({ space: DAYS, key, value: byDay.get(key) });
      });
      const writes = [
        ...dayWrites,
        session.change((sum) => used.reduce((all, { totals: more }) => addTotals(all, more), sum)),
        ofDay.change((sum) => addActivity(sum, activity)),
        ofSession.change((day) => addToDay(day, used, activity, startedAt ?? now, now)),
      ];
      const rest = contextWrites(sessionKey, context);
      return () => store.kv.setAll([...writes.map((write) => write()), ...rest]);
    },
    totals,
    daily: rows,
    session: async (sessionKey) => (await sessions.load(sessionKey)).value,
    today(agentId) {
      const day = localDay(clock.now());
      return totals({ from: day, to: day, ...(agentId === undefined ? {} : { agentId }) });
    },
    async activity(query) {
      const found = await store.kv.list(ACTIVITY, { from: query.from ?? "", below: `${query.to ?? ""}~` });
      return found
        .map(({ key, value }) => ({ date: key.slice(0, 10), agentId: key.slice(11), activity: readActivity(value) }))
        .filter((row) => fits(row, query));
    },
    async sessionDays(sessionKey, { from = "", to = "" }) {
      const range = { from: partKey(sessionKey, from), below: partKey(sessionKey, `${to}~`) };
      const found = await store.kv.list(SESSION_USAGE, range);
      return found
        .filter(({ key }) => key !== partKey(sessionKey, CONTEXT))
        .map(({ key, value }) => ({ date: key.slice(-10), ...toSessionDay(sessionDayFrom(value)) }));
    },
    context: async (sessionKey) =>
      (await store.kv.get(SESSION_USAGE, partKey(sessionKey, CONTEXT))) as ContextWeight | undefined,
  };

  /** Written only when it changed, because most turns have the same parts. */
  function contextWrites(sessionKey: string, context: ContextWeight | undefined): KvWrite[] {
    if (context === undefined) return [];
    const mark = sha256(JSON.stringify({ ...context, generatedAt: 0 }));
    if (contexts.get(sessionKey) === mark) return [];
    contexts.set(sessionKey, mark);
    return [{ space: SESSION_USAGE, key: partKey(sessionKey, CONTEXT), value: context }];
  }
}

interface Row<T> {
  readonly value: T;
  /** Changes the value immediately. Returns the write that makes it durable. */
  change(make: (value: T) => T): () => KvWrite;
}

/** A write-through cache for rows of one space that change often. */
function createRows<T>(
  { kv }: Pick<Store, "kv">,
  space: string,
  read: (stored: unknown) => T,
): { load(key: string): Promise<Row<T>> } {
  const known = new Lru<{ value: T }>(512);
  return {
    async load(key) {
      const stored = known.get(key) ?? { value: read(await kv.get(space, key)) };
      const row = known.get(key) ?? stored;
      known.set(key, row);
      return {
        get value() {
          return row.value;
        },
        change(make) {
          row.value = make(row.value);
          return () => ({ space, key, value: row.value });
        },
      };
    },
  };
}

/** As it is stored: models by `provider|model`. */
interface StoredDay {
  readonly models: Readonly<Record<string, Totals>>;
  readonly activity: Activity;
  readonly firstAt: number;
  readonly lastAt: number;
}

function addToDay(
  day: StoredDay,
  used: readonly ModelUse[],
  activity: Activity,
  startedAt: number,
  endedAt: number,
): StoredDay {
  const models = new Map(Object.entries(day.models));
  for (const { provider, model, totals } of used) {
    const key = `${provider}|${model}`;
    models.set(key, addTotals(models.get(key) ?? noUsage, totals));
  }
  return {
    models: Object.fromEntries(models),
    activity: addActivity(day.activity, activity),
    firstAt: day.firstAt === 0 ? startedAt : Math.min(day.firstAt, startedAt),
    lastAt: Math.max(day.lastAt, endedAt),
  };
}

function sessionDayFrom(value: unknown): StoredDay {
  const row = isRecord(value) ? value : {};
  const models = Object.entries(isRecord(row["models"]) ? row["models"] : {});
  return {
    models: Object.fromEntries(models.map(([key, totals]) => [key, totalsFrom(totals)])),
    activity: readActivity(row["activity"]),
    firstAt: typeof row["firstAt"] === "number" ? row["firstAt"] : 0,
    lastAt: typeof row["lastAt"] === "number" ? row["lastAt"] : 0,
  };
}

function toSessionDay({ models, ...rest }: StoredDay): Omit<SessionDay, "date"> {
  const used = Object.entries(models).map(([key, totals]): ModelUse => {
    const [provider = "", ...model] = key.split("|");
    return { provider, model: model.join("|"), totals };
  });
  return { used, ...rest };
}

export function localDay(at: number): string {
  const day = new Date(at);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

export function addTotals(a: Totals, b: Totals): Totals {
  return mapTotals((field) => a[field] + b[field]);
}

export function mapTotals(value: (field: keyof Totals) => number): Totals {
  return Object.fromEntries(totalFields.map((field) => [field, value(field)])) as Totals;
}

function totalsFrom(value: unknown): Totals {
  const stored = isRecord(value) ? value : {};
  return mapTotals((field) => (typeof stored[field] === "number" ? stored[field] : 0));
}

function toRow(key: string, totals: Totals): DayRow {
  const [date = "", agentId = "", provider = "", ...model] = key.split("|");
  return { date, agentId, provider, model: model.join("|"), ...totals };
}

function fits(row: Pick<DayRow, "date" | "agentId">, { agentId, from, to }: LedgerQuery): boolean {
  return (
    (agentId === undefined || row.agentId === agentId) &&
    (from === undefined || row.date >= from) &&
    (to === undefined || row.date <= to)
  );
}
