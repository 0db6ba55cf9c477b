import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { MAIN, openAgentHouse, scriptedBook, text, type AgentHouse, type Say } from "../../test/harness/agent.ts";
import type { Log } from "../base/log.ts";
import { textOf } from "../core/message.ts";
import { DEFAULT_AGENT } from "../core/names.ts";
import type { Wake } from "../session/wake.ts";
import { createWake, WAKE_PROMPT } from "./wake.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };

let count = 0;

interface CommandRun extends AgentHouse {
  readonly wake: Wake;
  /** The last user message of each request. */
  readonly heard: () => string[];
  readonly close: () => Promise<void>;
}

async function scene(say: (asked: string) => Say | Promise<Say>, models?: string[], isOn = true): Promise<CommandRun> {
  const book = scriptedBook((request) => say(textOf(request.messages.at(-1)?.content ?? [])), {}, models);
  const runtime = await openAgentHouse({ models: book });
  const wake = createWake({
    turns: () => runtime.agents,
    models: book,
    events: runtime.lines,
    agentOf: () => DEFAULT_AGENT,
    async turn(session) {
      const runId = `wake-${++count}`;
      await runtime.agents.post({
        runId,
        sessionKey: session,
        text: WAKE_PROMPT,
        source: "heartbeat",
        authorised: false,
        heartbeat: { ackMaxChars: 300 },
      });
      return runtime.agents.wait(runId, 60_000);
    },
    isOn: async () => isOn,
    log: silent,
  });
  return {
    ...runtime,
    wake,
    heard: () => book.requests.map(({ messages }) => textOf(messages.at(-1)?.content ?? [])),
    async close() {
      wake.close();
      await runtime.close();
    },
  };
}

test("lines close together are told in one turn, in order", async () => {
  const { wake, lines, heard, close } = await scene(() => text("HEARTBEAT_OK"));
  const [, , outcome] = await Promise.all([
    wake.tell(MAIN, "one"),
    wake.tell(MAIN, "two", "now"),
    wake.tellAndWait(MAIN, "three", 60_000),
  ]);
  assert.equal(outcome?.status, "ok");
  assert.equal(heard().length, 1);
  assert.match(heard()[0] ?? "", /^System: \[[^\]]+\] one\nSystem: \[[^\]]+\] two\nSystem: \[[^\]]+\] three\n/);
  assert.ok((heard()[0] ?? "").endsWith(WAKE_PROMPT));
  assert.deepEqual(await lines.peek(MAIN), []);
  await close();
});

test("a line for the next heartbeat waits and wakes nobody", async () => {
  const { wake, lines, heard, close } = await scene(() => text("ok"));
  await wake.tell(MAIN, "later", "next-heartbeat");
  await sleep(500);
  assert.deepEqual(heard(), []);
  assert.deepEqual(
    (await lines.peek(MAIN)).map((line) => line.text),
    ["later"],
  );
  await close();
});

test("a busy session is woken after its run, and whoever waits gets the outcome of the turn that read the line", async () => {
  const release = Promise.withResolvers<void>();
  const { wake, heard, send, agents, close } = await scene(async (asked) => {
    if (asked === "long") await release.promise;
    return text(asked.includes("news of the job") ? "I saw it." : "done");
  });
  const long = await send("long");
  while (heard().length === 0) await sleep(5);
  const waiting = wake.tellAndWait(MAIN, "news of the job", 60_000);
  await sleep(600);
  assert.equal(heard().length, 1);
  release.resolve();
  const outcome = await waiting;
  assert.equal(outcome?.text, "I saw it.");
  assert.notEqual(outcome?.runId, long);
  assert.deepEqual(agents.active(MAIN), []);
  await close();
});

test("when somebody's message reads the line first, there is no second turn for it", async () => {
  const release = Promise.withResolvers<void>();
  const { wake, lines, heard, send, close } = await scene(async (asked) => {
    if (asked === "long") await release.promise;
    return text("fine");
  });
  await send("long");
  while (heard().length === 0) await sleep(5);
  const waiting = wake.tellAndWait(MAIN, "news", 60_000);
  while ((await lines.peek(MAIN)).length === 0) await sleep(5);
  const reader = await send("hello");
  release.resolve();
  assert.equal((await waiting)?.runId, reader);
  await sleep(600);
  assert.equal(heard().filter((asked) => asked.includes("news")).length, 1);
  assert.equal(heard().length, 2);
  await close();
});

test("without a model, or with heartbeats off, there is no turn and the line stays", async () => {
  for (const [models, isOn] of [
    [[], true],
    [["scripted"], false],
  ] as const) {
    const { wake, lines, heard, close } = await scene(() => text("never"), [...models], isOn);
    assert.equal(await wake.tellAndWait(MAIN, "unheard", 60_000), undefined);
    assert.deepEqual([(await lines.peek(MAIN)).length, heard()], [1, []]);
    await close();
  }
});

test("waiting ends with its time, and the turn goes on", async () => {
  const release = Promise.withResolvers<void>();
  const { wake, heard, agents, close } = await scene(async () => {
    await release.promise;
    return text("late");
  });
  assert.equal(await wake.tellAndWait(MAIN, "slow", 6000), undefined);
  assert.deepEqual([heard().length, agents.active(MAIN).length], [1, 1]);
  release.resolve();
  await close();
});

test("many lines told at once end in few turns, and nobody waits for ever", async () => {
  const { wake, heard, close } = await scene(() => text("HEARTBEAT_OK"));
  const all = await Promise.all(
    Array.from({ length: 15 }, (_, index) => wake.tellAndWait(MAIN, `line ${index}`, 60_000)),
  );
  assert.deepEqual(
    all.map((outcome) => outcome?.status),
    all.map(() => "ok"),
  );
  assert.ok(heard().length <= 2);
  await close();
});

test("a line that waited since before a restart wakes its session", async () => {
  const { wake, lines, heard, close } = await scene(() => text("HEARTBEAT_OK"));
  await lines.add(MAIN, "left behind", true);
  await wake.resume();
  while (heard().length === 0) await sleep(10);
  assert.match(heard()[0] ?? "", /left behind/);
  await close();
});
