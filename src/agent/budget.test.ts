// Budgets end runs before their limit is exceeded; the sums of the ledger match the usage that models report.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { SessionKey } from "../core/names.ts";
import { systemClock } from "../base/clock.ts";
import { calls, openTestAgents, scriptedBook, text, usage, type TestAgents } from "../../test/harness/agent.ts";
import { createLedger, localDay, noUsage } from "./ledger.ts";

async function runtime(t: TestContext, models: ReturnType<typeof scriptedBook>, budget?: unknown): Promise<TestAgents> {
  const opened = await openTestAgents({
    models,
    config: budget === undefined ? {} : { agents: { defaults: { budget } } },
  });
  t.after(() => opened.close());
  return opened;
}

const looping = () => scriptedBook((_request, index) => calls(["read", { path: `f${index}` }]));

test("ends a turn at its limit of requests", async (t) => {
  const models = looping();
  const outcome = await (await runtime(t, models, { turn: { calls: 3 } })).ask("go");
  assert.deepEqual([outcome.status, outcome.failure?.code, models.requests.length], ["error", "budget.spent", 3]);
  assert.equal(outcome.failure?.message, "The budget of this turn is used up: 3 of 3 requests to models.");
  assert.match(outcome.failure?.hint ?? "", /agents\.defaults\.budget\.turn\.calls/);
});

test("counts the cost of a session over several turns", async (t) => {
  const models = scriptedBook(() => [
    { type: "text", delta: "ok" },
    { type: "end", stop: "stop", usage: usage(100_000, 100_000) },
  ]);
  const opened = await runtime(t, models, { session: { usd: 0.5 } });
  assert.equal((await opened.ask("one")).status, "ok");
  assert.equal((await opened.ask("two")).status, "ok");
  const third = await opened.ask("three");
  assert.match(third.failure?.message ?? "", /budget of this session is used up: \$0\.6000 of \$0\.5/);
  assert.equal((await opened.ask("other", { sessionKey: "agent:main:other" as SessionKey })).status, "ok");
});

test("limits the answer to the tokens left for the day, shared by concurrent runs", async (t) => {
  const models = scriptedBook((request) => [
    { waitMs: 10 },
    { type: "text", delta: "ok" },
    { type: "end", stop: "stop", usage: usage(1000, request.maxTokens) },
  ]);
  const opened = await runtime(t, models, { day: { tokens: 20_000 } });
  const keys = ["a", "b", "c", "d"].map((name) => `agent:main:${name}` as SessionKey);
  const outcomes = await Promise.all(keys.map((sessionKey) => opened.ask("go", { sessionKey })));
  const used = outcomes.reduce((sum, { usage: its }) => sum + (its?.totalTokens ?? 0), 0);
  assert.ok(used <= 20_000, `${used} tokens used`);
  assert.ok(outcomes.some(({ failure }) => failure?.code === "budget.spent"));
  assert.ok(outcomes.some(({ status }) => status === "ok"));
});

test("sums usage by day, agent, model and session, also after a restart", async (t) => {
  const opened = await runtime(
    t,
    scriptedBook(() => text("ok")),
  );
  await opened.ask("one");
  await opened.ask("two");
  await opened.ask("three", { sessionKey: "agent:main:other" as SessionKey });
  const ledger = createLedger(opened.store, systemClock);
  const [{ minutes: _m, costUsd, inputCost, outputCost, ...row } = { ...noUsage }] = await ledger.daily({});
  assert.deepEqual(
    [costUsd, inputCost, outputCost].map((usd) => usd.toFixed(8)),
    ["0.00006000", "0.00003000", "0.00003000"],
  );
  assert.deepEqual(row, {
    date: localDay(Date.now()),
    agentId: "main",
    provider: "fake",
    model: "scripted",
    input: 30,
    output: 15,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 45,
    cacheReadCost: 0,
    cacheWriteCost: 0,
    missingCostEntries: 0,
    calls: 3,
    runs: 3,
  });
  assert.equal((await ledger.session("agent:main:main")).totalTokens, 30);
  assert.equal((await ledger.totals({ agentId: "nobody" })).calls, 0);
  assert.equal((await ledger.today("main")).runs, 3);
});
