// Contract cases of the tables of jobs and slots.
import assert from "node:assert/strict";
import { it } from "node:test";

import type { Ground } from "./context.ts";
import type { JobRecord, SlotRecord } from "../store.ts";

export function jobCases(ground: Ground): void {
  it("keeps jobs over a restart, in the order of creation", async () => {
    for (const id of ["b", "a", "c"]) await ground.store().jobs.put(newJob(id));
    await ground.store().jobs.put(newJob("a", { nextAt: 99 }));
    assert.equal(await ground.store().jobs.delete("c"), true);
    assert.equal(await ground.store().jobs.delete("c"), false);
    const { jobs } = await ground.restart();
    assert.deepEqual(await jobs.list(), [newJob("b"), newJob("a", { nextAt: 99 })]);
    assert.deepEqual(await jobs.get("b"), newJob("b"));
    assert.equal(await jobs.get("nobody"), undefined);
    assert.equal(await jobs.count(), 2);
  });

  it("lists due jobs, the longest waiting first, and the next due time", async () => {
    const { jobs } = ground.store();
    assert.deepEqual(await jobs.outlook(), { running: 0 });
    await jobs.put(newJob("late", { nextAt: 30 }));
    await jobs.put(newJob("early", { nextAt: 10 }));
    await jobs.put(newJob("later", { nextAt: 31 }));
    const { nextAt: _none, ...asleep } = newJob("asleep");
    await jobs.put(asleep);
    assert.deepEqual(await jobs.outlook(), { nextAt: 10, running: 0 });
    assert.deepEqual(
      (await jobs.due(30, 10)).map(({ id }) => id),
      ["early", "late"],
    );
    assert.deepEqual(
      (await jobs.due(99, 1)).map(({ id }) => id),
      ["early"],
    );
    assert.deepEqual(await jobs.due(9, 10), []);
  });

  it("changes a job in one transaction, and keeps it when there is no change", async () => {
    const { jobs } = ground.store();
    await jobs.put(newJob("a"));
    assert.deepEqual(await jobs.update("a", () => undefined), newJob("a"));
    assert.deepEqual(await jobs.update("a", (job) => ({ ...job, state: { runs: 1 } })), {
      ...newJob("a"),
      state: { runs: 1 },
    });
    assert.equal(await jobs.update("nobody", (job) => job), undefined);
  });

  it("gives a slot to exactly one of many concurrent claims, and updates the job with it", async () => {
    const { jobs, slots } = ground.store();
    await jobs.put(newJob("a", { nextAt: 10 }));
    const claimed = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        jobs.claim("a", (job) => ({
          job: { ...job, nextAt: 20 },
          rows: [newSlot("a", "10", { runId: `run-${index}` })],
        })),
      ),
    );
    assert.equal(claimed.flat().length, 1);
    const again = await ground.restart();
    assert.deepEqual(await again.slots.list("a", 10), claimed.flat());
    assert.deepEqual(await again.jobs.outlook(), { nextAt: 20, running: 1 });
    assert.deepEqual(await again.slots.running(), claimed.flat());
    void slots;
  });

  it("claims no slot when the job is gone or the decision is negative", async () => {
    const { jobs, slots } = ground.store();
    assert.deepEqual(await jobs.claim("nobody", (job) => ({ job, rows: [newSlot("nobody", "1")] })), []);
    await jobs.put(newJob("a"));
    assert.deepEqual(await jobs.claim("a", () => undefined), []);
    assert.deepEqual(await slots.list("a", 10), []);
    assert.deepEqual(await slots.list("nobody", 10), []);
  });

  it("writes no row when the decision of a claim fails", async () => {
    const { jobs, slots } = ground.store();
    await jobs.put(newJob("a"));
    await assert.rejects(
      jobs.claim("a", () => {
        throw new Error("no decision");
      }),
      /no decision/,
    );
    assert.deepEqual(await slots.list("a", 10), []);
    assert.deepEqual(await jobs.get("a"), newJob("a"));
  });

  it("ends a running row once; the first end counts and updates the job", async () => {
    const { jobs, slots } = ground.store();
    await jobs.put(newJob("a"));
    await jobs.claim("a", (job) => ({ job, rows: [newSlot("a", "10", { why: "due" })] }));
    const end = { state: "ran", endedAt: 12, summary: "done", sessionId: "s1" } as const;
    assert.equal(await jobs.finish(newSlot("a", "10"), end, (job) => ({ ...job, state: { ok: 1 } })), true);
    assert.equal(await jobs.finish(newSlot("a", "10"), { state: "failed", endedAt: 13 }, () => "delete"), false);
    assert.deepEqual(await slots.get("a", "10"), { ...newSlot("a", "10"), why: "due", ...end });
    assert.deepEqual((await jobs.get("a"))?.state, { ok: 1 });
    await jobs.claim("a", (job) => ({ job, rows: [newSlot("a", "20")] }));
    await jobs.finish(newSlot("a", "20"), { state: "unknown", why: "cut off", error: "x" }, () => "delete");
    assert.equal(await jobs.get("a"), undefined);
    assert.equal((await slots.list("a", 10)).length, 2);
  });

  it("stores the progress of a running row together with a key-value row, and neither after its end", async () => {
    const { jobs, slots } = ground.store();
    await jobs.put(newJob("a"));
    await jobs.claim("a", (job) => ({ job, rows: [newSlot("a", "10")] }));
    const line = { space: "lines", key: "k", value: ["one"] };
    assert.equal(await slots.note(newSlot("a", "10"), "told", line), true);
    const again = await ground.restart();
    assert.deepEqual(await again.slots.running(), [newSlot("a", "10", { summary: "told" })]);
    assert.deepEqual(await again.kv.get("lines", "k"), ["one"]);
    await again.jobs.finish(newSlot("a", "10"), { state: "ran", endedAt: 12, summary: "done" }, () => undefined);
    assert.equal(await again.slots.note(newSlot("a", "10"), "late", { ...line, value: ["two"] }), false);
    assert.equal((await again.slots.get("a", "10"))?.summary, "done");
    assert.deepEqual(await again.kv.get("lines", "k"), ["one"]);
  });

  it("returns the newest rows of a job, oldest first, and prunes to a number of rows", async () => {
    const { jobs, slots } = ground.store();
    await jobs.put(newJob("a"));
    const rows = Array.from({ length: 6 }, (_, index) => newSlot("a", String(index), { state: "ran" }));
    await jobs.claim("a", (job) => ({ job, rows: [newSlot("a", "open"), ...rows] }));
    assert.deepEqual(
      (await slots.list("a", 2)).map(({ slot }) => slot),
      ["4", "5"],
    );
    assert.deepEqual(
      (await slots.list("a", 2, 3)).map(({ slot }) => slot),
      ["1", "2"],
    );
    assert.equal(await slots.latest(), 10);
    assert.equal(await slots.prune("a", 2), 4);
    assert.equal(await slots.prune("b", 2), 0);
    assert.deepEqual(
      (await slots.list("a", 10)).map(({ slot }) => slot),
      ["open", "4", "5"],
    );
  });

  it("drops old rows only of jobs that are gone", async () => {
    const { jobs, slots } = ground.store();
    for (const id of ["gone", "kept"]) {
      await jobs.put(newJob(id));
      await jobs.claim(id, (job) => ({
        job,
        rows: [newSlot(id, "old", { at: 5, state: "ran" }), newSlot(id, "new", { at: 50, state: "ran" })],
      }));
    }
    await jobs.delete("gone");
    assert.equal(await slots.pruneGone(10), 1);
    assert.equal((await slots.list("gone", 10)).length, 1);
    assert.equal((await slots.list("kept", 10)).length, 2);
  });
}

function newJob(id: string, changes: Partial<JobRecord> = {}): JobRecord {
  return { id, nextAt: 1, createdAt: 1, updatedAt: 2, body: { name: id }, state: {}, ...changes };
}

function newSlot(jobId: string, slot: string, changes: Partial<SlotRecord> = {}): SlotRecord {
  return { jobId, slot, at: 10, state: "running", startedAt: 11, ...changes };
}
