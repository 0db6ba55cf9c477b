// The contract cases of store.ts, which every driver must pass.
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";

import { childCases } from "./cases/children.cases.ts";
import { deviceCases } from "./cases/devices.cases.ts";
import { dedupeCases } from "./cases/dedupe.cases.ts";
import { inboxCases } from "./cases/inbox.cases.ts";
import { jobCases } from "./cases/jobs.cases.ts";
import { journalCases } from "./cases/journal.cases.ts";
import { kvCases } from "./cases/kv.cases.ts";
import { runCases } from "./cases/runs.cases.ts";
import { sessionCases } from "./cases/sessions.cases.ts";
import { transcriptCases } from "./cases/transcript.cases.ts";
import type { Ground } from "./cases/context.ts";
import { newSession } from "./cases/sample.ts";
import type { Store } from "./store.ts";

/** A real store: `reopen` closes and opens it again, `close` also deletes it. */
export interface OpenedStore {
  readonly store: Store;
  readonly reopen: () => Promise<Store>;
  readonly close: () => Promise<void>;
}

export function storeCases(open: () => Promise<OpenedStore>): void {
  let opened: OpenedStore;
  let current: Store;
  const ground: Ground = {
    store: () => current,
    async restart() {
      current = await opened.reopen();
      return current;
    },
  };
  beforeEach(async () => {
    opened = await open();
    current = opened.store;
  });
  afterEach(() => opened.close());

  describe("sessions", () => sessionCases(ground));
  describe("transcript", () => transcriptCases(ground));
  describe("inbox", () => inboxCases(ground));
  describe("runs", () => runCases(ground));
  describe("children", () => childCases(ground));
  describe("devices", () => deviceCases(ground));
  describe("dedupe", () => dedupeCases(ground));
  describe("kv", () => kvCases(ground));
  describe("journal", () => journalCases(ground));
  describe("jobs and slots", () => jobCases(ground));
  describe("the store as a whole", () => wholeCases(ground));
}

function wholeCases(ground: Ground): void {
  it("settle commits all pending writes before their callers are notified", async () => {
    const store = ground.store();
    const asked = [store.kv.set("a", "1", 1), store.kv.set("a", "2", 2)];
    await store.settle();
    assert.deepEqual(await store.kv.list("a"), [
      { key: "1", value: 1 },
      { key: "2", value: 2 },
    ]);
    await Promise.all(asked);
  });

  it("shows a reader only committed data", async () => {
    const store = ground.store();
    const asked = store.kv.set("a", "1", 1);
    assert.equal(await store.kv.get("a", "1"), undefined);
    await asked;
    assert.equal(await store.kv.get("a", "1"), 1);
  });

  it("commits the other writes when one fails, and rejects only that one", async () => {
    const store = ground.store();
    const key = newSession().key;
    const outcomes = await Promise.allSettled([
      store.kv.set("a", "before", 1),
      store.sessions.update(key, () => {
        throw new Error("the change went wrong");
      }),
      store.transcript.append("s", [{ id: "e1", type: "message", at: 1, body: 1 }]),
      store.inbox.finish("nobody", "done", null),
      store.kv.set("a", "after", 2),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === "fulfilled" ? "kept" : (outcome.reason as Error).message)),
      ["kept", "the change went wrong", "kept", "there is no inbox entry nobody", "kept"],
    );
    const again = await ground.restart();
    assert.equal(await again.kv.get("a", "before"), 1);
    assert.equal(await again.kv.get("a", "after"), 2);
    assert.equal(await again.transcript.count("s"), 1);
  });

  it("stores a record as it was at the time of the call, not as the caller changed it later", async () => {
    const store = ground.store();
    const body = { text: "as asked" };
    const asked = store.transcript.append("s", [{ id: "e1", type: "message", at: 1, body }]);
    body.text = "changed later";
    await asked;
    assert.deepEqual((await store.transcript.tail("s", 1))[0]?.body, { text: "as asked" });
  });

  it("rejects values without a JSON form", async () => {
    const store = ground.store();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    await assert.rejects(store.kv.set("a", "loop", loop), TypeError);
    await assert.rejects(store.transcript.append("s", [{ id: "e", type: "message", at: 1, body: 1n }]), TypeError);
    assert.equal(await store.transcript.count("s"), 0);
  });

  it("accepts thousands of concurrent writes, in order", async () => {
    const store = ground.store();
    const asked = Array.from({ length: 3000 }, (_, index) =>
      store.transcript.append("s", [{ id: `e${index}`, type: "message", at: index, body: index }]),
    );
    assert.deepEqual(
      await Promise.all(asked),
      Array.from({ length: 3000 }, (_, index) => index + 1),
    );
    const tail = await store.transcript.tail("s", 3000);
    assert.deepEqual(
      tail.map((entry) => entry.body),
      Array.from({ length: 3000 }, (_, index) => index),
    );
  });

  it("rejects work after close, and closes twice without an error", async () => {
    const store = ground.store();
    const last = store.kv.set("a", "last", 1);
    await store.close();
    await last;
    await store.close();
    await assert.rejects(store.kv.get("a", "last"), { code: "store.closed" });
    await assert.rejects(store.kv.set("a", "late", 1), { code: "store.closed" });
    const again = await ground.restart();
    assert.deepEqual(await again.kv.list("a"), [{ key: "last", value: 1 }]);
  });
}
