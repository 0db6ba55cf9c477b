// Contract cases of the journal of tool calls.
import assert from "node:assert/strict";
import { it } from "node:test";

import fc from "fast-check";

import type { Ground } from "./context.ts";
import type { CallOutcome, JournalEntry, JournalQuery } from "../store.ts";
import { newCall } from "./sample.ts";

export function journalCases(ground: Ground): void {
  it("keeps every field over a restart, and omits fields that were not set", async () => {
    const whole = newCall({
      id: "whole",
      durationMs: 1.25,
      turn: "run-1",
      intent: { kind: "write", paths: ["/a"] },
      args: { path: "/a" },
      decision: { allow: false, rule: "deny" },
      error: { code: "x.y" },
      outcome: "refused",
    });
    await ground.store().journal.record(newCall(), { durable: false });
    await ground.store().journal.record(whole, { durable: true });
    const store = await ground.restart();
    assert.deepEqual(await store.journal.list({}), [whole, newCall()]);
  });

  it("replaces by id and keeps the position of the first record", async () => {
    const { journal } = ground.store();
    await journal.record(newCall({ id: "a", outcome: "started", args: { n: 1 } }), { durable: true });
    await journal.record(newCall({ id: "b" }), { durable: false });
    await journal.record(newCall({ id: "a", outcome: "ok", durationMs: 3 }), { durable: false });
    assert.deepEqual(await journal.list({}), [newCall({ id: "b" }), newCall({ id: "a", durationMs: 3 })]);
  });

  it("marks calls that a dead process had started as unknown, once", async () => {
    for (const [id, outcome] of Object.entries({ a: "started", b: "ok", c: "started" })) {
      await ground.store().journal.record(newCall({ id, outcome: outcome as CallOutcome }), { durable: true });
    }
    const { journal } = await ground.restart();
    assert.equal(await journal.closeOpenEntries(), 2);
    assert.equal(await journal.closeOpenEntries(), 0);
    assert.deepEqual(
      (await journal.list({})).map(({ id, outcome }) => `${id} ${outcome}`),
      ["c unknown", "b ok", "a unknown"],
    );
  });

  it("keeps the newest rows when pruned", async () => {
    const { journal } = ground.store();
    for (let index = 0; index < 10; index++) await journal.record(newCall({ id: `c${index}` }), { durable: false });
    assert.equal(await journal.prune(20), 0);
    assert.equal(await journal.prune(3), 7);
    assert.deepEqual(
      (await journal.list({})).map(({ id }) => id),
      ["c9", "c8", "c7"],
    );
    assert.equal(await journal.prune(0), 3);
    assert.deepEqual(await journal.list({}), []);
  });

  it("lists the newest first under any filter", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyCall, { maxLength: 25 }), anyQuery, async (calls, query) => {
        const { journal } = ground.store();
        await journal.prune(0);
        const entries = calls.map((call, index) => newCall({ ...call, id: `c${index}` }));
        await Promise.all(entries.map((entry) => journal.record(entry, { durable: false })));
        const expected = entries.filter((entry) => fits(entry, query)).toReversed();
        assert.deepEqual(await journal.list(query), expected.slice(0, query.limit));
      }),
      { numRuns: 60 },
    );
  });
}

const anyCall = fc.record({
  at: fc.integer({ min: 0, max: 100 }),
  tool: fc.constantFrom("read", "exec"),
  sessionKey: fc.constantFrom("agent:main:main", "agent:main:x"),
  outcome: fc.constantFrom<CallOutcome>("started", "ok", "error", "refused", "aborted", "unknown"),
});

const anyQuery: fc.Arbitrary<JournalQuery> = fc.record(
  {
    tool: fc.constantFrom("read", "exec"),
    sessionKey: fc.constantFrom("agent:main:main", "agent:main:x"),
    outcome: fc.constantFrom<CallOutcome>("started", "ok", "error", "refused"),
    limit: fc.integer({ min: 0, max: 10 }),
  },
  { requiredKeys: [] },
);

function fits(entry: JournalEntry, { tool, sessionKey, outcome }: JournalQuery): boolean {
  if (tool !== undefined && entry.tool !== tool) return false;
  if (sessionKey !== undefined && entry.sessionKey !== sessionKey) return false;
  return outcome === undefined || entry.outcome === outcome;
}
