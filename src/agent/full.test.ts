// On a full disk turns wait for space with a notice, writes stay atomic, and a stop still works.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import { textOf } from "../core/message.ts";
import type { Store } from "../store/store.ts";
import { MAIN, openTestAgents, scriptedBook, text, type TestAgents, type Say } from "../../test/harness/agent.ts";

interface Disk {
  isFull: boolean;
}

/** Steps and single writes alike are refused while the disk is full. */
async function runtime(t: TestContext, disk: Disk, said: Say = text("done")): Promise<TestAgents> {
  const full = (): Promise<never> =>
    Promise.reject(new OpenClawError("store.full", "no space left for the store", { hint: "free some space" }));
  const wrap = (store: Store): Store => ({
    ...store,
    together: <T>(ask: () => T): T => (disk.isFull ? (full() as T) : store.together(ask)),
    sessions: {
      ...store.sessions,
      update: (...change) => (disk.isFull ? full() : store.sessions.update(...change)),
    },
  });
  const opened = await openTestAgents({
    models: scriptedBook((_request, index) => (index === 0 ? said : text("done"))),
    wrap,
    more: { retryMs: 20 },
  });
  t.after(() => opened.close());
  return opened;
}

async function stateOf({ store }: TestAgents, runId: string): Promise<string | undefined> {
  await sleep(100);
  return (await store.inbox.get(runId))?.state;
}

/** Waits for what is tried again and again. */
async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const seen = await look();
    if (holds(seen) || tries > 600) return seen;
    await sleep(100);
  }
}
const endOf = (opened: TestAgents, runId: string): Promise<string | undefined> =>
  until(
    () => stateOf(opened, runId),
    (state) => state !== "pending",
  );

const noticesOf = ({ events }: TestAgents): string[] =>
  events.flatMap(({ body }) => (body.stream === "notice" ? [body.text] : []));
const wordsOf = async (opened: TestAgents): Promise<string[]> =>
  (await opened.messages()).map(({ role, content }) => `${role}: ${textOf(content)}`);

test("waits for disk space before a turn begins, with one notice, and then runs it once", async (t) => {
  const disk: Disk = { isFull: true };
  const opened = await runtime(t, disk);
  await opened.send("hi", { runId: "r1" });
  await until(
    async () => noticesOf(opened),
    (notices) => notices.length > 0,
  );
  assert.equal(await opened.agents.wait("r1", 100), undefined, "it has no end, least of all a failed one");
  assert.deepEqual(noticesOf(opened), [
    "Waiting: no space left for the store. Your message is stored; this continues automatically. Fix: free some space.",
  ]);
  assert.deepEqual(await wordsOf(opened), []);
  disk.isFull = false;
  assert.equal((await opened.agents.wait("r1", 60_000))?.status, "ok");
  assert.deepEqual(await wordsOf(opened), ["user: hi", "assistant: done"]);
});

test("asks no model before the message is stored", async (t) => {
  const disk: Disk = { isFull: true };
  const models = scriptedBook(() => text("done"));
  const opened = await openTestAgents({
    models,
    more: { retryMs: 20 },
    wrap: (store) => ({
      ...store,
      transcript: {
        ...store.transcript,
        append: (...entries) =>
          disk.isFull
            ? Promise.reject(new OpenClawError("store.full", "no space left"))
            : store.transcript.append(...entries),
      },
    }),
  });
  t.after(() => opened.close());
  await opened.send("hi", { runId: "r1" });
  await until(
    async () => noticesOf(opened),
    (notices) => notices.length > 0,
  );
  assert.equal(models.requests.length, 0);
  disk.isFull = false;
  assert.equal((await opened.agents.wait("r1", 60_000))?.status, "ok");
  assert.equal(models.requests.length, 1);
});

test("reports the answer when disk space allowed to store it", async (t) => {
  const disk: Disk = { isFull: false };
  const opened = await runtime(t, disk, [{ waitMs: 50 }, ...text("the answer")]);
  opened.agents.watch(({ body }) => {
    if (body.stream === "lifecycle" && body.phase === "start") disk.isFull = false;
    if (body.stream === "assistant") disk.isFull = true;
  });
  await opened.send("hi", { runId: "r1" });
  await until(
    async () => noticesOf(opened),
    (notices) => notices.length > 0,
  );
  assert.deepEqual(await wordsOf(opened), ["user: hi"]);
  assert.equal(await opened.agents.wait("r1", 100), undefined);
  disk.isFull = false;
  const outcome = await opened.agents.wait("r1", 60_000);
  assert.deepEqual([outcome?.status, outcome?.text], ["ok", "the answer"]);
  assert.deepEqual(await wordsOf(opened), ["user: hi", "assistant: the answer"]);
  assert.equal(await endOf(opened, "r1"), "done");
});

test("ends a stopped run immediately while its answer waits for disk space, and stores it later", async (t) => {
  const disk: Disk = { isFull: false };
  const opened = await runtime(t, disk, text("the answer"));
  opened.agents.watch(({ body }) => {
    if (body.stream === "assistant") disk.isFull = true;
  });
  await opened.send("hi", { runId: "r1" });
  await until(
    async () => noticesOf(opened),
    (notices) => notices.length > 0,
  );
  assert.deepEqual(await opened.agents.abort({ sessionKey: MAIN }, "not wanted"), ["r1"]);
  assert.notEqual((await opened.agents.wait("r1", 60_000))?.status, "ok");
  assert.equal(await stateOf(opened, "r1"), "pending");
  disk.isFull = false;
  assert.equal(await endOf(opened, "r1"), "failed");
  assert.deepEqual(await wordsOf(opened), ["user: hi", "assistant: the answer"]);
});

test("ends a turn that was stopped before it began immediately, and shows its message once stored", async (t) => {
  const disk: Disk = { isFull: false };
  const opened = await runtime(t, disk, ["hang"]);
  await opened.send("one", { runId: "one" });
  await opened.send("two", { runId: "two" });
  for (let tries = 0; opened.agents.active(MAIN).length < 2 && tries < 6000; tries++) await sleep(10);
  disk.isFull = true;
  await opened.agents.abort({ sessionKey: MAIN, runId: "two" }, "not wanted");
  assert.equal((await opened.agents.wait("two", 60_000))?.status, "aborted");
  assert.equal(await stateOf(opened, "two"), "pending");
  disk.isFull = false;
  assert.equal(await endOf(opened, "two"), "failed");
});

test("posts a message of the gateway once when the disk has space again", async (t) => {
  const disk: Disk = { isFull: true };
  const opened = await runtime(t, disk);
  await opened.agents.say(MAIN, "the job is done", "said-1");
  await sleep(100);
  assert.deepEqual(await opened.messages(), []);
  disk.isFull = false;
  const messages = await until(
    () => opened.messages(),
    (found) => found.length > 0,
  );
  assert.deepEqual(
    messages.map(({ content }) => textOf(content)),
    ["the job is done"],
  );
  assert.equal(await endOf(opened, "said-1"), "done");
});
