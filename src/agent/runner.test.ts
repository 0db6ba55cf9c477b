// Turns from the inbox to their outcome, with a real store and real tools.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { RunOutcome } from "../core/event.ts";
import { textOf } from "../core/message.ts";
import {
  calls,
  failing,
  MAIN,
  openTestAgents,
  scriptedBook,
  text,
  usage,
  type TestAgents,
  type TestAgentsPlan,
} from "../../test/harness/agent.ts";
import { repairMessages } from "./valid-messages.ts";

async function runtime(t: TestContext, plan: TestAgentsPlan): Promise<TestAgents> {
  const opened = await openTestAgents(plan);
  t.after(() => opened.close());
  return opened;
}

const steady = ({ startedAt: _s, endedAt: _e, sessionId: _i, ...rest }: RunOutcome): Partial<RunOutcome> => rest;

test("streams a plain turn, stores it, and reports one outcome in order", async (t) => {
  const models = scriptedBook(() => text("Hello there, friend"));
  const { ask, events, messages, store } = await runtime(t, { models });
  const outcome = await ask("hi", { runId: "r1" });
  assert.deepEqual(steady(outcome), {
    runId: "r1",
    sessionKey: MAIN,
    status: "ok",
    text: "Hello there, friend",
    silent: false,
    provider: "fake",
    model: "scripted",
    usage: usage(),
    costUsd: 0.00002,
    toolCalls: 0,
  });
  assert.deepEqual(
    events.map(({ seq, body }) => [seq, body.stream, "phase" in body ? body.phase : "text" in body ? body.text : ""]),
    [
      [1, "lifecycle", "start"],
      [2, "assistant", "Hello "],
      [3, "assistant", "Hello there, "],
      [4, "assistant", "Hello there, friend"],
      [5, "lifecycle", "end"],
    ],
  );
  assert.deepEqual(
    (await messages()).map(({ role, content }) => [role, textOf(content)]),
    [
      ["user", "hi"],
      ["assistant", "Hello there, friend"],
    ],
  );
  assert.equal((await store.runs.get("r1"))?.state, "ok");
  assert.equal((await store.inbox.get("r1"))?.state, "done");
});

test("runs tools through the one path, read-only ones in parallel", async (t) => {
  const models = scriptedBook((_request, index) =>
    index === 0 ? calls(["read", { path: "a.txt" }], ["read", { path: "b.txt" }]) : text("both read"),
  );
  const opened = await runtime(t, { models });
  writeFileSync(join(opened.workspace, "a.txt"), "alpha");
  writeFileSync(join(opened.workspace, "b.txt"), "beta");
  const outcome = await opened.ask("read them");
  assert.equal(outcome.text, "both read");
  assert.equal(outcome.toolCalls, 2);
  const results = models.requests[1]?.messages.slice(-2) ?? [];
  assert.deepEqual(
    results.map((message) => [
      message.role,
      textOf(message.content).includes("alpha"),
      textOf(message.content).includes("beta"),
    ]),
    [
      ["toolResult", true, false],
      ["toolResult", false, true],
    ],
  );
  const phases = opened.events.flatMap(({ body }) =>
    body.stream === "tool" ? [`${body.phase} ${body.toolCallId}`] : [],
  );
  assert.deepEqual(phases.slice(0, 2), ["start call_0", "start call_1"]);
});

test("answers unknown tools, malformed JSON, wrong types and denied tools with text for the model", async (t) => {
  const models = scriptedBook((_request, index) =>
    index === 0
      ? calls(
          ["nonsense", {}],
          ["read", '{"path": "a'],
          ["read", { path: 7 }],
          ["read", "[1]"],
          ["cron", { action: "list" }],
        )
      : text("I see"),
  );
  const opened = await runtime(t, { models });
  assert.equal((await opened.ask("go")).text, "I see");
  const results = (await opened.messages()).flatMap((message) => (message.role === "toolResult" ? [message] : []));
  assert.deepEqual(
    results.map(({ isError }) => isError),
    [true, true, true, true, true],
  );
  assert.match(textOf(results[1]?.content ?? []), /not valid JSON/);
  assert.match(textOf(results[3]?.content ?? []), /must be a JSON object/);
});

test("returns the same receipt for the same run id, with the outcome when it has ended", async (t) => {
  const models = scriptedBook(() => text("once"));
  const { agents, ask } = await runtime(t, { models });
  const turn = { runId: "same", sessionKey: MAIN, text: "hi", source: "agent" as const, authorised: true };
  const both = await Promise.all([agents.post(turn), agents.post(turn)]);
  assert.deepEqual(
    both.map(({ fresh }) => fresh).toSorted((a, b) => Number(a) - Number(b)),
    [false, true],
  );
  const outcome = await agents.wait("same", 60_000);
  const again = await agents.post(turn);
  assert.deepEqual(again.outcome, outcome);
  assert.equal(models.requests.length, 1);
  await ask("other");
  assert.equal(models.requests.length, 2);
});

test("answers two concurrent senders one after the other", async (t) => {
  const models = scriptedBook((request) => [
    { waitMs: 5 },
    ...text(`to: ${textOf(request.messages.at(-1)?.content ?? [])}`),
  ]);
  const { ask, messages } = await runtime(t, { models });
  const [one, two] = await Promise.all([ask("first"), ask("second")]);
  assert.deepEqual([one.text, two.text], ["to: first", "to: second"]);
  assert.deepEqual(
    (await messages()).map(({ role }) => role),
    ["user", "assistant", "user", "assistant"],
  );
});

test("gives every one of a thousand quick messages an outcome, within the cap of the queue", async (t) => {
  const models = scriptedBook(() => [{ waitMs: 20 }, ...text("done")]);
  const { send, agents, messages } = await runtime(t, { models, config: { messages: { queue: { debounceMs: 10 } } } });
  const ids = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => send(`message ${index}`, { source: "chat" })),
  );
  const outcomes = await Promise.all(ids.map((id) => agents.wait(id, 60_000)));
  assert.equal(outcomes.filter((outcome) => outcome?.status === "ok").length, 1000);
  assert.ok(models.requests.length <= 4, `${models.requests.length} requests`);
  const asked = (await messages())
    .filter(({ role }) => role === "user")
    .map(({ content }) => textOf(content))
    .join("\n");
  for (const index of [0, 500, 999]) if (index === 999) assert.match(asked, /message 999/);
});

test("neither streams nor reports NO_REPLY", async (t) => {
  const models = scriptedBook(() => [
    { type: "text", delta: "NO" },
    { type: "text", delta: "_REPLY" },
    { type: "end", stop: "stop", usage: usage() },
  ]);
  const { ask, events } = await runtime(t, { models });
  const outcome = await ask("psst");
  assert.deepEqual([outcome.silent, outcome.text, outcome.status], [true, "", "ok"]);
  assert.ok(!events.some(({ body }) => body.stream === "assistant"));
});

test("explains how to add a model when there is none, and commands still work", async (t) => {
  const models = { ...scriptedBook(() => []), candidates: async () => [] };
  const opened = await runtime(t, {
    models,
    direct: async (words) =>
      words === "/status" ? { kind: "answered", text: "fine" } : { kind: "turn", text: words, notes: [], once: {} },
  });
  const outcome = await opened.ask("hello");
  assert.equal(outcome.failure?.code, "model.none");
  assert.match(outcome.failure?.message ?? "", /openclaw configure --section model/);
  const status = await opened.ask("/status");
  assert.deepEqual([status.status, status.text], ["ok", "fine"]);
});

test("ends the run with the kind of a model failure, and the session stays usable", async () => {
  for (const kind of ["auth", "billing", "invalid", "garbled", "empty"] as const) {
    const models = scriptedBook((_request, index) => (index === 0 ? failing(kind) : text("back")));
    const opened = await openTestAgents({ models, more: { streamModel: direct(models) } });
    const outcome = await opened.ask("hi");
    assert.deepEqual([outcome.status, outcome.failure?.code], ["error", `model.${kind}`]);
    assert.equal((await opened.ask("again")).text, "back");
    await opened.close();
  }
});

/** Without retries, so that each failure is seen as it came. */
function direct(models: ReturnType<typeof scriptedBook>): NonNullable<TestAgentsPlan["more"]>["streamModel"] {
  return async function* stream(turn) {
    const ref = { provider: "fake", id: "scripted" };
    const model = await models.open(ref, turn.agentId);
    if (model !== undefined) yield* model.stream(turn.request(ref, model.facts), turn.signal);
  };
}

test("stops a silent model, a streaming model and a running tool, and the session stays usable", async () => {
  const stages = {
    silent: ["hang"] as const,
    streaming: [{ type: "text", delta: "half an " }, "hang"] as const,
  };
  for (const [name, say] of Object.entries(stages)) {
    const models = scriptedBook((_request, index) => (index === 0 ? say : text("after")));
    const opened = await openTestAgents({ models });
    const runId = await opened.send("go");
    while (models.requests.length === 0) await sleep(2);
    await sleep(10);
    assert.deepEqual(await opened.agents.abort({ sessionKey: MAIN }, "rpc"), [runId], name);
    const outcome = await opened.agents.wait(runId, 60_000);
    assert.deepEqual([outcome?.status, outcome?.failure?.code], ["aborted", "run.aborted"], name);
    const messages = await opened.messages();
    assert.deepEqual(repairMessages(messages), messages, name);
    assert.equal((await opened.ask("next")).text, "after", name);
    await opened.close();
  }
});

test("stops a run that takes too long, with the reason", async (t) => {
  const { ask } = await runtime(t, { models: scriptedBook(() => ["hang"]) });
  const outcome = await ask("go", { timeoutMs: 30 });
  assert.deepEqual([outcome.status, outcome.failure?.code], ["error", "run.timeout"]);
});

test("runs turns that had not begun before a stop after the next start", async (t) => {
  const models = scriptedBook((_request, index) => (index === 0 ? ["hang"] : text("later")));
  const first = await openTestAgents({ models });
  const begun = await first.send("one");
  while (models.requests.length === 0) await sleep(2);
  const waiting = await first.send("two");
  const second = await first.reopen();
  t.after(() => second.close());
  assert.equal((await second.agents.wait(begun, 60_000))?.failure?.code, "run.interrupted");
  assert.equal((await second.agents.wait(waiting, 60_000))?.text, "later");
});

test("does not stop a run immediately when its time limit is months", async (t) => {
  const runtime = await openTestAgents({
    models: scriptedBook(() => text("done")),
    config: { agents: { defaults: { timeoutSeconds: 9_000_000 } } },
  });
  t.after(() => runtime.close());
  await runtime.send("hello", { runId: "long" });
  assert.equal((await runtime.agents.wait("long", 60_000))?.status, "ok");
});
