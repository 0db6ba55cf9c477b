// Messages that arrive during a run, by queue mode, over a real store.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { RunOutcome } from "../core/event.ts";
import { textOf } from "../core/message.ts";
import type { ModelRequest } from "../model/model.ts";
import {
  calls,
  MAIN,
  openTestAgents,
  scriptedBook,
  text,
  type TestAgents,
  type Say,
} from "../../test/harness/agent.ts";

const lastUser = (request: ModelRequest | undefined): string =>
  textOf(request?.messages.findLast(({ role }) => role === "user")?.content ?? []);

async function busy(
  t: TestContext,
  mode: string,
  first: Say,
  queue: Record<string, unknown> = {},
): Promise<{ opened: TestAgents; models: ReturnType<typeof scriptedBook>; leader: string }> {
  const models = scriptedBook((request, index) =>
    index === 0 ? first : text(`re: ${lastUser(request).slice(0, 20)}`),
  );
  const opened = await openTestAgents({ models, config: { messages: { queue: { mode, debounceMs: 5, ...queue } } } });
  t.after(() => opened.close());
  const leader = await opened.send("one", { source: "chat" });
  while (models.requests.length === 0) await sleep(1);
  return { opened, models, leader };
}

const slow: Say = [{ waitMs: 60 }, ...text("first answer")];
const chat = { source: "chat" } as const;

test("collect: answers all waiting messages in one turn, each with an outcome", async (t) => {
  const { opened, models } = await busy(t, "collect", slow);
  const ids = [await opened.send("two", chat), await opened.send("three", chat)];
  const outcomes = await Promise.all(ids.map((id) => opened.agents.wait(id, 60_000)));
  assert.equal(models.requests.length, 2);
  assert.match(lastUser(models.requests[1]), /Message 1:\ntwo\n\nMessage 2:\nthree/);
  assert.deepEqual(
    outcomes.map((outcome) => [outcome?.status, outcome?.silent]),
    [
      ["ok", false],
      ["ok", true],
    ],
  );
});

test("followup: runs one turn per message, in order", async (t) => {
  const { opened, models } = await busy(t, "followup", slow);
  const ids = [await opened.send("two", chat), await opened.send("three", chat)];
  const outcomes = await Promise.all(ids.map((id) => opened.agents.wait(id, 60_000)));
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.text),
    ["re: two", "re: three"],
  );
  assert.equal(models.requests.length, 3);
});

test("steer: inserts the message between tool calls, or runs it as its own turn", async (t) => {
  const { opened, models } = await busy(t, "steer", [
    { waitMs: 40 },
    ...calls(["read", { path: "x" }], ["write", { path: "y", content: "" }]),
  ]);
  const steered = await opened.send("two", chat);
  const outcome = await opened.agents.wait(steered, 60_000);
  assert.equal(models.requests.length, 2);
  assert.equal(lastUser(models.requests[1]), "two");
  assert.deepEqual([outcome?.status, outcome?.silent], ["ok", true]);

  const plain = await busy(t, "steer", slow);
  const slot = await plain.opened.send("two", chat);
  assert.equal((await plain.opened.agents.wait(slot, 60_000))?.text, "re: two");
});

test("steer-backlog: inserts the message and answers it again afterwards", async (t) => {
  const { opened, models, leader } = await busy(t, "steer-backlog", [
    { waitMs: 40 },
    ...calls(["read", { path: "x" }]),
  ]);
  const steered = await opened.send("two", chat);
  assert.equal((await opened.agents.wait(steered, 60_000))?.text, "re: two");
  assert.deepEqual(models.requests.slice(1).map(lastUser), ["two", "two"]);
  const stored = (await opened.store.inbox.get(steered))?.result;
  assert.deepEqual([(stored as RunOutcome).text, (stored as RunOutcome).silent], ["re: two", false]);
  // Whose messages a run read decides what it may leave behind.
  const { merged, overheard } = ((await opened.store.runs.get(leader))?.body ?? {}) as Record<string, unknown>;
  assert.deepEqual([merged, overheard], [[], [steered]]);
});

test("interrupt: stops the current run and keeps only the newest message", async (t) => {
  const { opened, leader } = await busy(t, "interrupt", ["hang"]);
  const [two, three] = [await opened.send("two", chat), await opened.send("three", chat)];
  assert.equal((await opened.agents.wait(leader, 60_000))?.status, "aborted");
  const [second, third] = await Promise.all([two, three].map((id) => opened.agents.wait(id ?? "", 60_000)));
  assert.deepEqual([second?.status, third?.status, third?.text], ["aborted", "ok", "re: three"]);
});

test("interrupt: replaces a waiting message when the run has just ended", async (t) => {
  const { opened, leader } = await busy(t, "interrupt", ["hang"], { debounceMs: 300 });
  const two = await opened.send("two", chat);
  assert.equal((await opened.agents.wait(leader, 60_000))?.status, "aborted");
  const three = await opened.send("three", chat);
  const [second, third] = await Promise.all([two, three].map((id) => opened.agents.wait(id, 60_000)));
  assert.deepEqual([second?.status, third?.status, third?.text], ["aborted", "ok", "re: three"]);
});

test("drop: ends messages over the cap with the reason", async (t) => {
  const { opened } = await busy(t, "followup", slow, { cap: 1, drop: "old" });
  const [two, three] = [await opened.send("two", chat), await opened.send("three", chat)];
  assert.equal((await opened.agents.wait(two ?? "", 60_000))?.failure?.code, "queue.dropped");
  assert.equal((await opened.agents.wait(three ?? "", 60_000))?.text, "re: three");
});

test("abort: ends waiting turns too, with one outcome each", async (t) => {
  const { opened, leader } = await busy(t, "followup", ["hang"]);
  const behind = [await opened.send("two"), await opened.send("three")];
  assert.deepEqual(opened.agents.active(MAIN), [leader, ...behind]);
  const ended = await opened.agents.abort({ sessionKey: MAIN }, "rpc");
  assert.deepEqual(ended.toSorted(), [leader, ...behind].toSorted());
  for (const id of ended) assert.equal((await opened.agents.wait(id, 60_000))?.status, "aborted");
  const ends = opened.events.filter(({ body }) => body.stream === "lifecycle" && body.phase === "end");
  assert.equal(ends.length, 3);
  assert.equal((await opened.ask("next")).text, "re: next");
});

test("abort: ends one waiting turn without stopping the current run", async (t) => {
  const { opened, leader } = await busy(t, "followup", slow);
  const waiting = await opened.send("two");
  assert.deepEqual(await opened.agents.abort({ sessionKey: MAIN, runId: waiting }, "rpc"), [waiting]);
  assert.equal((await opened.agents.wait(leader, 60_000))?.text, "first answer");
});

test("answers a command about the current run immediately", async (t) => {
  const models = scriptedBook(() => ["hang"]);
  const opened: TestAgents = await openTestAgents({
    models,
    direct: async (words, { sessionKey }) => {
      if (words !== "/stop") return { kind: "turn", text: words, notes: [], once: {} };
      const ended = await opened.agents.abort({ sessionKey }, "/stop");
      return { kind: "answered", text: `stopped ${ended.length}` };
    },
  });
  t.after(() => opened.close());
  const leader = await opened.send("go");
  while (models.requests.length === 0) await sleep(1);
  assert.equal((await opened.ask("/stop")).text, "stopped 1");
  assert.equal((await opened.agents.wait(leader, 60_000))?.status, "aborted");
  // And with nothing under way it stops nothing, not even itself.
  assert.equal((await opened.ask("/stop")).text, "stopped 0");
});

test("abort: signals the running tool, stores a result for its call, and the session continues", async (t) => {
  const models = scriptedBook((_request, index) => (index === 0 ? calls(["read", {}], ["write", {}]) : text("after")));
  let wasTold = false;
  const opened = await openTestAgents({
    models,
    more: {
      callTool: ({ signal }) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener("abort", () => {
            wasTold = true;
            reject(new Error("stopped"));
          }),
        ),
    },
  });
  t.after(() => opened.close());
  const runId = await opened.send("go");
  while (!opened.events.some(({ body }) => body.stream === "tool")) await sleep(1);
  await opened.agents.abort({ sessionKey: MAIN }, "rpc");
  assert.deepEqual([(await opened.agents.wait(runId, 60_000))?.status, wasTold], ["aborted", true]);
  const results = (await opened.messages()).filter(({ role }) => role === "toolResult");
  assert.equal(results.length, 2);
  assert.equal((await opened.ask("next")).text, "after");
});

test("ends messages that were shortened by a full queue with their run, also when it is stopped", async (t) => {
  const models = scriptedBook(() => ["hang"]);
  const opened = await openTestAgents({ models, config: { messages: { queue: { debounceMs: 1, cap: 1 } } } });
  t.after(() => opened.close());
  const first = await opened.send("one", chat);
  while (models.requests.length === 0) await sleep(1);
  const behind = [await opened.send("two", chat), await opened.send("three", chat), await opened.send("four", chat)];
  await opened.agents.abort({ sessionKey: MAIN, runId: first }, "rpc");
  while (models.requests.length === 1) await sleep(1);
  assert.match(
    lastUser(models.requests[1]),
    /2 earlier messages did not fit in the queue; shortened:\]\n- two\n- three\n\nfour/,
  );
  await opened.agents.abort({ sessionKey: MAIN }, "rpc");
  for (const id of behind) assert.equal((await opened.agents.wait(id, 60_000))?.status, "aborted");
});
