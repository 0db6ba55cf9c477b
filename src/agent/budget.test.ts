// Budgets end runs before their limit is passed; the ledger adds up to what the models counted.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import type { SessionKey } from "../core/names.ts";
import { systemClock } from "../base/clock.ts";
import { calls, openAgentHouse, scriptedBook, text, usage, type AgentHouse } from "../../test/harness/agent.ts";
import { createLedger, localDay, nothing } from "./ledger.ts";

async function runtime(t: TestContext, models: ReturnType<typeof scriptedBook>, budget?: unknown): Promise<AgentHouse> {
  const opened = await openAgentHouse({
    models,
    config: budget === undefined ? {} : { agents: { defaults: { budget } } },
  });
  t.after(() => opened.close());
  return opened;
}

const looping = () => scriptedBook((_request, index) => calls(["read", { path: `f${index}` }]));

test("requests of one turn", async (t) => {
  const models = looping();
  const outcome = await (await runtime(t, models, { turn: { calls: 3 } })).ask("go");
  assert.deepEqual([outcome.status, outcome.failure?.code, models.requests.length], ["error", "budget.spent", 3]);
  assert.equal(outcome.failure?.message, "The budget of this turn is used up: 3 of 3 requests to models.");
  assert.match(outcome.failure?.hint ?? "", /agents\.defaults\.budget\.turn\.calls/);
});

test("money of a session, over turns", async (t) => {
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

test("tokens of a day: the answer is bounded by what is left, and runs at once share it", async (t) => {
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

test("the ledger: by day, agent, model and session, the same after a restart", async (t) => {
  const opened = await runtime(
    t,
    scriptedBook(() => text("ok")),
  );
  await opened.ask("one");
  await opened.ask("two");
  await opened.ask("three", { sessionKey: "agent:main:other" as SessionKey });
  const ledger = createLedger(opened.store, systemClock);
  const [{ minutes: _m, costUsd, inputCost, outputCost, ...row } = { ...nothing }] = await ledger.daily({});
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
