import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { MAIN, openTestAgents, scriptedBook, text, type TestAgents, type Say } from "../../test/harness/agent.ts";
import type { Log } from "../base/log.ts";
import { textOf } from "../core/message.ts";
import { DEFAULT_AGENT } from "../core/names.ts";
import type { Wake } from "../session/wake.ts";
import { createWake, WAKE_PROMPT } from "./wake.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };

let count = 0;

interface CommandRun extends TestAgents {
  readonly wake: Wake;
  /** The last user message of each request. */
  readonly prompts: () => string[];
  readonly close: () => Promise<void>;
}

async function openWake(
  say: (asked: string) => Say | Promise<Say>,
  models?: string[],
  isOn = true,
): Promise<CommandRun> {
  const book = scriptedBook((request) => say(textOf(request.messages.at(-1)?.content ?? [])), {}, models);
  const runtime = await openTestAgents({ models: book });
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
    prompts: () => book.requests.map(({ messages }) => textOf(messages.at(-1)?.content ?? [])),
    async close() {
      wake.close();
      await runtime.close();
    },
  };
}

test("reads notes that come close together in one turn, in order", async () => {
  const { wake, lines, prompts, close } = await openWake(() => text("HEARTBEAT_OK"));
  const [, , outcome] = await Promise.all([
    wake.notify(MAIN, "one"),
    wake.notify(MAIN, "two", "now"),
    wake.notifyAndWait(MAIN, "three", 60_000),
  ]);
  assert.equal(outcome?.status, "ok");
  assert.equal(prompts().length, 1);
  assert.match(prompts()[0] ?? "", /^System: \[[^\]]+\] one\nSystem: \[[^\]]+\] two\nSystem: \[[^\]]+\] three\n/);
  assert.ok((prompts()[0] ?? "").endsWith(WAKE_PROMPT));
  assert.deepEqual(await lines.peek(MAIN), []);
  await close();
});

test("keeps a note for the next heartbeat without waking the session", async () => {
  const { wake, lines, prompts, close } = await openWake(() => text("ok"));
  await wake.notify(MAIN, "later", "next-heartbeat");
  await sleep(500);
  assert.deepEqual(prompts(), []);
  assert.deepEqual(
    (await lines.peek(MAIN)).map((line) => line.text),
    ["later"],
  );
  await close();
});

test("wakes a busy session after its run, and returns the outcome of the turn that read the note", async () => {
  const release = Promise.withResolvers<void>();
  const { wake, prompts, send, agents, close } = await openWake(async (asked) => {
    if (asked === "long") await release.promise;
    return text(asked.includes("news of the job") ? "I saw it." : "done");
  });
  const long = await send("long");
  while (prompts().length === 0) await sleep(5);
  const waiting = wake.notifyAndWait(MAIN, "news of the job", 60_000);
  await sleep(600);
  assert.equal(prompts().length, 1);
  release.resolve();
  const outcome = await waiting;
  assert.equal(outcome?.text, "I saw it.");
  assert.notEqual(outcome?.runId, long);
  assert.deepEqual(agents.active(MAIN), []);
  await close();
});

test("starts no second turn when another turn reads the note first", async () => {
  const release = Promise.withResolvers<void>();
  const { wake, lines, prompts, send, close } = await openWake(async (asked) => {
    if (asked === "long") await release.promise;
    return text("fine");
  });
  await send("long");
  while (prompts().length === 0) await sleep(5);
  const waiting = wake.notifyAndWait(MAIN, "news", 60_000);
  while ((await lines.peek(MAIN)).length === 0) await sleep(5);
  const reader = await send("hello");
  release.resolve();
  assert.equal((await waiting)?.runId, reader);
  await sleep(600);
  assert.equal(prompts().filter((asked) => asked.includes("news")).length, 1);
  assert.equal(prompts().length, 2);
  await close();
});

test("keeps the note without a turn when there is no model or heartbeats are off", async () => {
  for (const [models, isOn] of [
    [[], true],
    [["scripted"], false],
  ] as const) {
    const { wake, lines, prompts, close } = await openWake(() => text("never"), [...models], isOn);
    assert.equal(await wake.notifyAndWait(MAIN, "unheard", 60_000), undefined);
    assert.deepEqual([(await lines.peek(MAIN)).length, prompts()], [1, []]);
    await close();
  }
});

test("stops waiting after the timeout, and the turn continues", async () => {
  const release = Promise.withResolvers<void>();
  const { wake, prompts, agents, close } = await openWake(async () => {
    await release.promise;
    return text("late");
  });
  assert.equal(await wake.notifyAndWait(MAIN, "slow", 6000), undefined);
  assert.deepEqual([prompts().length, agents.active(MAIN).length], [1, 1]);
  release.resolve();
  await close();
});

test("reads many concurrent notes in few turns, and every wait ends", async () => {
  const { wake, prompts, close } = await openWake(() => text("HEARTBEAT_OK"));
  const all = await Promise.all(
    Array.from({ length: 15 }, (_, index) => wake.notifyAndWait(MAIN, `line ${index}`, 60_000)),
  );
  assert.deepEqual(
    all.map((outcome) => outcome?.status),
    all.map(() => "ok"),
  );
  assert.ok(prompts().length <= 2);
  await close();
});

test("wakes a session whose note waited during a restart", async () => {
  const { wake, lines, prompts, close } = await openWake(() => text("HEARTBEAT_OK"));
  await lines.add(MAIN, "left behind", true);
  await wake.resume();
  while (prompts().length === 0) await sleep(10);
  assert.match(prompts()[0] ?? "", /left behind/);
  await close();
});
