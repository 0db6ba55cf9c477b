// A disk that is full for a while at the end of turns: everybody hears an end at once, and it is on the disk later.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { HouseError } from "../core/error.ts";
import { textOf } from "../core/message.ts";
import type { Store } from "../store/store.ts";
import { MAIN, openAgentHouse, scriptedBook, text, type AgentHouse, type Say } from "../../test/agent-kit.ts";

interface Disk {
  isFull: boolean;
  /** What is refused while it is. */
  refuses: "ends" | "texts";
}

async function house(t: TestContext, disk: Disk, said: Say = text("done")): Promise<AgentHouse> {
  const full = (): Promise<never> => Promise.reject(new HouseError("store.full", "no space left"));
  const wrap = (store: Store): Store => ({
    ...store,
    inbox: {
      ...store.inbox,
      finish: (...end) => (disk.isFull ? full() : store.inbox.finish(...end)),
    },
    transcript: {
      ...store.transcript,
      append: (...entries) => (disk.isFull && disk.refuses === "texts" ? full() : store.transcript.append(...entries)),
    },
  });
  const opened = await openAgentHouse({
    models: scriptedBook(() => said),
    wrap,
    more: { retryMs: 20 },
  });
  t.after(() => opened.close());
  return opened;
}

async function stateOf({ store }: AgentHouse, runId: string): Promise<string | undefined> {
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
const endOf = (opened: AgentHouse, runId: string): Promise<string | undefined> =>
  until(
    () => stateOf(opened, runId),
    (state) => state !== "pending",
  );

test("the end of a run is written when there is room again; until then whoever asks hears it all the same", async (t) => {
  const disk: Disk = { isFull: true, refuses: "ends" };
  const opened = await house(t, disk);
  const outcome = await opened.ask("hi", { runId: "r1" });
  assert.equal(outcome.failure?.code, "store.full");
  assert.equal(await stateOf(opened, "r1"), "pending");
  assert.deepEqual(await opened.agents.wait("r1", 60_000), outcome);
  const again = await opened.agents.post({
    runId: "r1",
    sessionKey: MAIN,
    text: "hi",
    source: "agent",
    authorised: true,
  });
  assert.equal(again.fresh, false);
  disk.isFull = false;
  assert.equal(await endOf(opened, "r1"), "failed");
  assert.deepEqual(await opened.agents.wait("r1", 60_000), outcome);
});

test("a turn that is stopped before it began has its end at once", async (t) => {
  const disk: Disk = { isFull: false, refuses: "ends" };
  const opened = await house(t, disk, ["hang"]);
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

test("words of the house wait for room, and are said once", async (t) => {
  const disk: Disk = { isFull: true, refuses: "texts" };
  const opened = await house(t, disk);
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
