// Usage as published clients ask for it: recorded shapes, numbers that fit what happened, and answers that stay bounded.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { localDay } from "../../../src/agent/ledger.ts";
import { addJob, ask, firstRun, hourly, openJobGateway, quiet } from "../../harness/cron.ts";
import { call, calls, fail, say } from "../../fakes/openai.ts";
import { operator, startGateway } from "../../harness/gateway.ts";
import { chat, openScripted, type ScriptedGateway } from "../../harness/model.ts";
import { shapeOf } from "../../harness/shape.ts";

const totals = {
  input: "number",
  output: "number",
  cacheRead: "number",
  cacheWrite: "number",
  totalTokens: "number",
  totalCost: "number",
  inputCost: "number",
  outputCost: "number",
  cacheReadCost: "number",
  cacheWriteCost: "number",
  missingCostEntries: "number",
};
const counts = {
  total: "number",
  user: "number",
  assistant: "number",
  toolCalls: "number",
  toolResults: "number",
  errors: "number",
};
const latency = { count: "number", avgMs: "number", p95Ms: "number", minMs: "number", maxMs: "number" };
const tools = { totalCalls: "number", uniqueTools: "number", tools: [{ name: "string", count: "number" }] };
const modelDay = [
  { date: "string", provider: "string", model: "string", tokens: "number", cost: "number", count: "number" },
];

/** As recorded from the published gateway. */
const recorded = {
  "usage.cost": { updatedAt: "number", days: "number", daily: [{ date: "string", ...totals }], totals },
  "sessions.usage": {
    updatedAt: "number",
    startDate: "string",
    endDate: "string",
    sessions: [
      {
        key: "string",
        sessionId: "string",
        updatedAt: "number",
        agentId: "string",
        channel: "string",
        origin: { provider: "string", surface: "string", chatType: "string" },
        modelProvider: "string",
        model: "string",
        usage: {
          sessionId: "string",
          sessionFile: "string",
          firstActivity: "number",
          lastActivity: "number",
          durationMs: "number",
          activityDates: ["string"],
          dailyBreakdown: [{ date: "string", tokens: "number", cost: "number" }],
          dailyMessageCounts: [{ date: "string", ...counts }],
          dailyLatency: [{ date: "string", ...latency }],
          dailyModelUsage: modelDay,
          messageCounts: counts,
          toolUsage: tools,
          modelUsage: [{ provider: "string", model: "string", count: "number", totals }],
          latency,
          ...totals,
        },
        contextWeight: {
          source: "string",
          generatedAt: "number",
          sessionId: "string",
          sessionKey: "string",
          provider: "string",
          model: "string",
          workspaceDir: "string",
          bootstrapMaxChars: "number",
          sandbox: { mode: "string", sandboxed: "boolean" },
          systemPrompt: { chars: "number", projectContextChars: "number", nonProjectContextChars: "number" },
          injectedWorkspaceFiles: [
            {
              name: "string",
              path: "string",
              missing: "boolean",
              rawChars: "number",
              injectedChars: "number",
              truncated: "boolean",
            },
          ],
          skills: { promptChars: "number", entries: [] },
          tools: {
            listChars: "number",
            schemaChars: "number",
            entries: [{ name: "string", summaryChars: "number", schemaChars: "number", propertiesCount: "number" }],
          },
        },
      },
    ],
    totals,
    aggregates: {
      messages: counts,
      tools,
      byModel: [{ provider: "string", model: "string", count: "number", totals }],
      byProvider: [{ provider: "string", count: "number", totals }],
      byAgent: [{ agentId: "string", totals }],
      byChannel: [{ channel: "string", totals }],
      latency,
      dailyLatency: [{ date: "string", ...latency }],
      modelDaily: modelDay,
      daily: [
        { date: "string", tokens: "number", cost: "number", messages: "number", toolCalls: "number", errors: "number" },
      ],
    },
  },
  "sessions.usage.timeseries": {
    sessionId: "string",
    points: [
      {
        timestamp: "number",
        input: "number",
        output: "number",
        cacheRead: "number",
        cacheWrite: "number",
        totalTokens: "number",
        cost: "number",
        cumulativeTokens: "number",
        cumulativeCost: "number",
      },
    ],
  },
} as const;

interface Sums {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly totalTokens: number;
  readonly totalCost: number;
  readonly inputCost: number;
  readonly outputCost: number;
}

interface Report {
  readonly sessions: readonly {
    readonly key: string;
    readonly usage: Sums & Record<"messageCounts" | "toolUsage" | "modelUsage" | "latency", Record<string, unknown>>;
    readonly contextWeight?: unknown;
  }[];
  readonly totals: Sums;
  readonly aggregates: Record<string, unknown>;
}

describe("usage over the wire", () => {
  let runtime: ScriptedGateway;
  const today = localDay(Date.now());

  before(async () => {
    runtime = await openScripted();
    writeFileSync(join(runtime.gateway.workspace, "AGENTS.md"), "Be brief.");
    writeFileSync(join(runtime.gateway.workspace, "note.txt"), "a note\n");
    runtime.script = () => say("one");
    await chat(runtime.wire, "main", "hello", "u-1");
    let step = 0;
    runtime.script = () =>
      [
        calls([
          { name: "read", args: { path: "note.txt" } },
          { name: "agents_list", args: {} },
        ]),
        call("read", { path: "missing.txt" }),
        say("two"),
      ][step++] ?? say("end");
    await chat(runtime.wire, "main", "use tools", "u-2");
    runtime.script = () => fail(400, { error: { message: "no" } });
    await chat(runtime.wire, "agent:main:other", "fail", "u-3");
  });
  after(() => runtime.close());

  const look = <T>(method: string, params: object): Promise<T> => ask(runtime.wire, method, params);

  for (const [method, shape] of Object.entries(recorded))
    test(`${method} has the recorded shape`, async () => {
      const params = method === "usage.cost" ? {} : { key: "main", includeContextWeight: true };
      assert.deepEqual(shapeOf(await look(method, method.endsWith("timeseries") ? { key: "main" } : params)), shape);
    });

  test("counts messages, tools, models and costs of a session", async () => {
    const { sessions } = await look<Report>("sessions.usage", { key: "agent:main:main" });
    const [session] = sessions;
    assert.deepEqual(session?.usage.messageCounts, {
      total: 6,
      user: 2,
      assistant: 4,
      toolCalls: 3,
      toolResults: 3,
      errors: 1,
    });
    assert.deepEqual(session?.usage.toolUsage, {
      totalCalls: 3,
      uniqueTools: 2,
      tools: [
        { name: "read", count: 2 },
        { name: "agents_list", count: 1 },
      ],
    });
    const { input, output, cacheRead, totalTokens, totalCost, inputCost, outputCost } =
      session?.usage ?? assert.fail("none");
    assert.ok(input > 0 && output > 0);
    assert.equal(totalTokens, input + output + cacheRead);
    assert.equal(inputCost.toFixed(9), (input / 1e6).toFixed(9));
    assert.equal(outputCost.toFixed(9), ((2 * output) / 1e6).toFixed(9));
    assert.equal(totalCost.toFixed(9), (inputCost + outputCost).toFixed(9));
    assert.equal(session.usage.latency["count"], 4);
    assert.equal(session.contextWeight, undefined, "only when it is asked for");
  });

  test("the totals over all sessions equal the sum of the single ones", async () => {
    const all = await look<Report>("sessions.usage", { startDate: today, endDate: today, limit: 1000 });
    assert.deepEqual(all.sessions.map(({ key }) => key).toSorted(), ["agent:main:main", "agent:main:other"]);
    const alone = await look<Report>("sessions.usage", { key: "main" });
    assert.deepEqual(all.totals, alone.totals, "the other session got no answer");
    const cost = await look<{ totals: Sums }>("usage.cost", { startDate: today, endDate: today });
    assert.deepEqual(cost.totals, all.totals);
    assert.deepEqual(all.aggregates["messages"], {
      total: 7,
      user: 3,
      assistant: 4,
      toolCalls: 3,
      toolResults: 3,
      errors: 2,
    });
  });

  test("a range without activity is empty, and an invalid date is ignored", async () => {
    const {
      sessions,
      totals: none,
      aggregates,
    } = await look<Report>("sessions.usage", {
      startDate: "2020-01-01",
      endDate: "2020-01-02",
    });
    assert.deepEqual([sessions, none.totalTokens, aggregates["daily"], aggregates["byModel"]], [[], 0, [], []]);
    assert.equal((await look<Report>("sessions.usage", { startDate: "2026-99-99" })).sessions.length, 2);
    assert.equal((await runtime.wire.request("sessions.usage", { startDate: "yesterday" })).ok, false);
    assert.equal((await runtime.wire.request("sessions.usage", { days: 3 })).ok, false);
  });

  test("the timeline adds up to the total of the session", async () => {
    const { points } = await look<{ points: { cumulativeTokens: number; cumulativeCost: number }[] }>(
      "sessions.usage.timeseries",
      { key: "main" },
    );
    const [session] = (await look<Report>("sessions.usage", { key: "main" })).sessions;
    assert.equal(points.length, 4);
    assert.equal(points.at(-1)?.cumulativeTokens, session?.usage.totalTokens);
    assert.equal(points.at(-1)?.cumulativeCost.toFixed(9), session?.usage.totalCost.toFixed(9));
  });

  test("the log shows messages, shortened and without secrets", async () => {
    runtime.script = () => say(`key ${runtime.gateway.token} ${"x".repeat(5000)}`);
    await chat(runtime.wire, "agent:main:long", "tell", "u-4");
    const { logs } = await look<{ logs: { role: string; content: string; tokens?: number }[] }>("sessions.usage.logs", {
      key: "agent:main:long",
      limit: 1,
    });
    assert.equal(logs.length, 1);
    assert.equal(logs[0]?.role, "assistant");
    assert.ok((logs[0]?.content.length ?? 0) <= 2001 && !logs[0]?.content.includes(runtime.gateway.token));
    const all = await look<{ logs: { role: string; content: string }[] }>("sessions.usage.logs", { key: "main" });
    assert.deepEqual(
      all.logs.map(({ role }) => role),
      ["user", "assistant", "user", "assistant", "toolResult", "toolResult", "assistant", "toolResult", "assistant"],
    );
    assert.match(all.logs[4]?.content ?? "", /^\[Tool: read\]\n\[Tool Result\]\n.*a note/s);
  });

  test("queries for missing sessions are answered as recorded", async () => {
    const message = async (method: string, params: object): Promise<unknown> => {
      const { error } = await runtime.wire.request(method, params);
      return [error?.code, error?.message];
    };
    assert.deepEqual(await message("sessions.usage.timeseries", {}), [
      "INVALID_REQUEST",
      "key is required for timeseries",
    ]);
    assert.deepEqual(await message("sessions.usage.timeseries", { key: "nope" }), [
      "INVALID_REQUEST",
      "No transcript found for session: nope",
    ]);
    assert.deepEqual(await message("sessions.usage.logs", {}), ["INVALID_REQUEST", "key is required for logs"]);
    assert.deepEqual(await look("sessions.usage.logs", { key: "nope", zz: 1 }), { logs: [] });
    assert.deepEqual((await look<Report>("sessions.usage", { key: "nope" })).sessions, []);
  });

  test("totals survive a reset and a restart; deleting a session removes its rows", async () => {
    const before = await look<{ totals: Sums }>("usage.cost", {});
    await look("sessions.delete", { key: "agent:main:long" });
    assert.deepEqual((await look<Report>("sessions.usage", { key: "agent:main:long" })).sessions, []);
    await look("sessions.reset", { key: "main" });
    await runtime.gateway.stop();
    const again = await startGateway({ home: runtime.gateway.home });
    const wire = await operator(again);
    const payload = await wire.call("usage.cost", {});
    assert.deepEqual(payload.totals, before.totals);
    const report = await wire.call("sessions.usage", { key: "main", includeContextWeight: true });
    const [session] = report.sessions;
    assert.equal(session?.usage?.messageCounts?.total, 6);
    assert.notEqual(session.contextWeight, null);
    wire.end();
    await again.stop();
  });
});

test("a job and its last run, which share a transcript, are one row that matches its log", async () => {
  const runtime = await openJobGateway();
  try {
    runtime.script = () => say("done");
    const job = await addJob(runtime.wire, {
      name: "report",
      schedule: hourly,
      sessionTarget: "isolated",
      payload: { kind: "agentTurn", message: "report" },
      delivery: quiet,
    });
    await ask(runtime.wire, "cron.run", { id: job.id, mode: "force" });
    const { sessionKey } = await firstRun(runtime.wire, job.id);
    const { sessions } = await ask<Report>(runtime.wire, "sessions.usage", {});
    const rows = sessions.filter(({ key }) => key.includes(job.id));
    assert.deepEqual(
      rows.map(({ key, usage }) => [key, usage.messageCounts["total"]]),
      [[sessionKey, 2]],
    );
    const { logs } = await ask<{ logs: unknown[] }>(runtime.wire, "sessions.usage.logs", { key: sessionKey });
    assert.equal(logs.length, 2);
  } finally {
    await runtime.close();
  }
});
