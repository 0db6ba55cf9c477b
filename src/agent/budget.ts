// Budgets of a turn, a session, an agent and a day: reserved before each request, settled after it.
import type { RunFailure } from "../core/event.ts";
import type { Usage } from "../core/message.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import { newId } from "../base/ids.ts";
import { agentConfig } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { ModelFacts, ModelRef } from "../model/model.ts";
import { mapTotals, noUsage, addTotals, type Ledger, type ModelUse, type Totals } from "./ledger.ts";
import { contextOf, costOf, costParts } from "./usage.ts";

export interface Limits {
  readonly tokens?: number | undefined;
  readonly usd?: number | undefined;
  readonly calls?: number | undefined;
  readonly minutes?: number | undefined;
}

export type BudgetSpan = "turn" | "session" | "agent" | "day";

export interface Account {
  /** Runs that share an account have the same key. */
  readonly key: string;
  readonly span: BudgetSpan;
  readonly path: string;
  readonly limits: Limits;
}

export interface Budget {
  /** Reserves a request of that many tokens, or names the limit that it would exceed. */
  reserve(inputTokens: number, facts: ModelFacts): Promise<RunFailure | undefined>;
  /** How many tokens the answer may have within all limits. */
  granted(facts: ModelFacts): number;
  /** Releases the reservation and counts the actual usage of the model. */
  settle(usage: Usage | undefined, facts: ModelFacts, ref: ModelRef): void;
  used(): Totals;
  /** The usage by model, in the order they were first asked. */
  usedByModel(): readonly ModelUse[];
  /** Called when the usage of the run is in the ledger. */
  close(): void;
}

export interface Budgets {
  open(config: Config, agentId: AgentId, sessionKey: SessionKey): Budget;
}

const spans: readonly BudgetSpan[] = ["turn", "session", "agent", "day"];

export function createBudgets(ledger: Ledger, now: () => number): Budgets {
  /** Usage and reservations of running turns by account; the ledger has the rest. */
  const underWay = new Map<string, Totals>();
  const book = (keys: readonly string[], amount: Totals): void => {
    for (const key of keys) underWay.set(key, addTotals(underWay.get(key) ?? noUsage, amount));
  };
  return {
    open(config, agentId, sessionKey) {
      const startedAt = now();
      const accounts = accountsOf(config, agentId, sessionKey);
      const keys = accounts.map(({ key }) => key);
      let own: Totals = noUsage;
      const byModel = new Map<string, ModelUse>();
      let held: Totals = noUsage;
      let room = Infinity;
      const usedIn = (account: Account, before: Totals): Totals => {
        const total = addTotals(before, underWay.get(account.key) ?? noUsage);
        return { ...total, minutes: total.minutes + (now() - startedAt) / 60_000 };
      };
      const release = (): void => {
        book(keys, negate(held));
        held = noUsage;
      };
      return {
        async reserve(inputTokens, facts) {
          room = Infinity;
          if (accounts.length === 0) return undefined;
          const before = await Promise.all(accounts.map((account) => booked(account, agentId, sessionKey, ledger)));
          // No await between reading the accounts and reserving.
          for (const [index, account] of accounts.entries()) {
            const used = usedIn(account, before[index] ?? noUsage);
            const over = exceededLimit(account, used, inputTokens, facts);
            if (over !== undefined) return over;
            room = Math.min(room, roomIn(account, used, inputTokens, facts));
          }
          const output = Math.min(room, facts.maxTokens);
          const usage = { input: inputTokens, output, cacheRead: 0, cacheWrite: 0, totalTokens: inputTokens + output };
          held = { ...noUsage, ...usage, costUsd: costOf(usage, facts), calls: 1 };
          book(keys, held);
          return undefined;
        },
        granted: ({ maxTokens }) => Math.max(1, Math.min(maxTokens, room)),
        settle(usage, facts, { provider, id }) {
          release();
          const spent = spentOn(usage, facts);
          own = addTotals(own, spent);
          const name = `${provider}/${id}`;
          byModel.set(name, { provider, model: id, totals: addTotals(byModel.get(name)?.totals ?? noUsage, spent) });
          book(keys, spent);
        },
        usedByModel: () => [...byModel.values()],
        used: () => own,
        close() {
          release();
          book(keys, negate(own));
          for (const key of keys) if (key.startsWith("turn:")) underWay.delete(key);
        },
      };
    },
  };
}

/** The accounts that have a limit: the agent's own, else the shared one. A day counts all agents together. */
function accountsOf(config: Config, agentId: AgentId, sessionKey: SessionKey): Account[] {
  const own = agentConfig(config, agentId)?.budget;
  const shared = config.agents?.defaults?.budget;
  const keys = { turn: `turn:${newId()}`, session: `session:${sessionKey}`, agent: `agent:${agentId}`, day: "day" };
  return spans.flatMap((span) => {
    const limits = own?.[span] ?? shared?.[span];
    const place = own?.[span] === undefined ? "agents.defaults.budget" : "agents.list[].budget";
    return limits === undefined ? [] : [{ key: keys[span], span, limits, path: `${place}.${span}` }];
  });
}

async function booked({ span }: Account, agentId: AgentId, sessionKey: SessionKey, ledger: Ledger): Promise<Totals> {
  if (span === "turn") return noUsage;
  if (span === "session") return ledger.session(sessionKey);
  return span === "agent" ? ledger.today(agentId) : ledger.today();
}

function roomIn({ limits }: Account, used: Totals, inputTokens: number, { cost }: ModelFacts): number {
  const byTokens = limits.tokens === undefined ? Infinity : limits.tokens - used.totalTokens - inputTokens;
  if (limits.usd === undefined || cost.output <= 0) return Math.floor(byTokens);
  const left = limits.usd - used.costUsd - (inputTokens * cost.input) / 1_000_000;
  return Math.floor(Math.min(byTokens, (left * 1_000_000) / cost.output));
}

function exceededLimit(
  { span, path, limits }: Account,
  used: Totals,
  inputTokens: number,
  { cost }: ModelFacts,
): RunFailure | undefined {
  const price = (inputTokens * cost.input) / 1_000_000;
  const exceeded = (key: keyof Limits, usage: string): RunFailure => ({
    code: "budget.spent",
    message: `The budget of this ${span} is used up: ${usage}.`,
    hint: `raise ${path}.${key}; openclaw usage shows what was used`,
  });
  if (limits.tokens !== undefined && used.totalTokens + inputTokens >= limits.tokens)
    return exceeded(
      "tokens",
      `${used.totalTokens} of ${limits.tokens} tokens, and the next request needs about ${inputTokens}`,
    );
  if (limits.usd !== undefined && used.costUsd + price >= limits.usd && used.costUsd + price > 0)
    return exceeded(
      "usd",
      `$${used.costUsd.toFixed(4)} of $${limits.usd}, and the next request costs about $${price.toFixed(4)}`,
    );
  if (limits.calls !== undefined && used.calls >= limits.calls)
    return exceeded("calls", `${used.calls} of ${limits.calls} requests to models`);
  if (limits.minutes !== undefined && used.minutes >= limits.minutes)
    return exceeded("minutes", `${used.minutes.toFixed(1)} of ${limits.minutes} minutes`);
  return undefined;
}

function spentOn(usage: Usage | undefined, facts: ModelFacts): Totals {
  if (usage === undefined) return { ...noUsage, calls: 1 };
  const { input, output, cacheRead, cacheWrite } = usage;
  const cost = costParts(usage, facts);
  return {
    ...noUsage,
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: contextOf(usage),
    costUsd: cost.total,
    inputCost: cost.input,
    outputCost: cost.output,
    cacheReadCost: cost.cacheRead,
    cacheWriteCost: cost.cacheWrite,
    missingCostEntries: facts.unpriced === true ? 1 : 0,
    calls: 1,
  };
}

function negate(amount: Totals): Totals {
  return mapTotals((field) => -amount[field]);
}
