// Contract cases of the transcript table.
import assert from "node:assert/strict";
import { it } from "node:test";

import fc from "fast-check";

import type { Ground } from "./context.ts";
import type { StoredEntry, TranscriptEntry } from "../store.ts";
import { anyEntry } from "./sample.ts";

export function transcriptCases(ground: Ground): void {
  it("numbers entries from 1 within each session, in the order of the calls, also for concurrent calls", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyAppend, { maxLength: 25 }), async (appends) => {
        const { transcript } = ground.store();
        const round = `r${Math.random()}`;
        const model = new Map<string, StoredEntry[]>();
        const expectedSeqs = appends.map(({ session, entries }) => {
          const known = model.get(session) ?? [];
          known.push(...entries.map((entry, index) => ({ ...entry, seq: known.length + index + 1 })));
          model.set(session, known);
          return known.length;
        });
        const seqs = await Promise.all(
          appends.map(({ session, entries }) => transcript.append(round + session, entries)),
        );
        assert.deepEqual(seqs, expectedSeqs);
        for (const [session, entries] of model) {
          assert.deepEqual(await transcript.tail(round + session, entries.length + 1), entries);
          assert.equal(await transcript.count(round + session), entries.length);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("returns the last entries below a number, oldest first", async () => {
    const { transcript } = ground.store();
    const entries = Array.from({ length: 10 }, (_, index) => newEntry(index + 1));
    await transcript.append("s", entries);
    const seqs = async (limit: number, before?: number): Promise<number[]> =>
      (await transcript.tail("s", limit, before)).map((entry) => entry.seq);
    assert.deepEqual(await seqs(3), [8, 9, 10]);
    assert.deepEqual(await seqs(3, 8), [5, 6, 7]);
    assert.deepEqual(await seqs(30, 3), [1, 2]);
    assert.deepEqual(await seqs(3, 1), []);
    assert.deepEqual(await seqs(0), []);
    assert.deepEqual(await transcript.tail("nobody", 3), []);
  });

  it("stores all entries of one call or none", async () => {
    const { transcript } = ground.store();
    await transcript.append("s", [newEntry(1)]);
    // The last one violates a constraint after the others were written.
    const broken = { ...newEntry(4), at: 1.5 };
    const outcomes = await Promise.allSettled([
      transcript.append("s", [newEntry(2), newEntry(3), broken]),
      transcript.append("s", [newEntry(5)]),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ["rejected", "fulfilled"],
    );
    const store = await ground.restart();
    assert.deepEqual(
      (await store.transcript.tail("s", 10)).map(({ id, seq }) => ({ id, seq })),
      [
        { id: "e1", seq: 1 },
        { id: "e5", seq: 2 },
      ],
    );
  });

  it("ignores an empty append", async () => {
    const { transcript } = ground.store();
    assert.equal(await transcript.append("s", []), 0);
    await transcript.append("s", [newEntry(1)]);
    assert.equal(await transcript.append("s", []), 1);
  });

  it("keeps large and unusual bodies byte for byte over a restart", async () => {
    const bodies = ["x".repeat(3_000_000), "\u0000\u001f\ud800 lone", "😀".repeat(1000), "", null, { a: [{ b: {} }] }];
    await ground.store().transcript.append(
      "s",
      bodies.map((body, index) => ({ ...newEntry(index), body })),
    );
    const store = await ground.restart();
    assert.deepEqual(
      (await store.transcript.tail("s", 10)).map((entry) => entry.body),
      bodies,
    );
  });

  it("starts again at 1 after a session and its transcript were deleted", async () => {
    const { transcript, sessions } = ground.store();
    const key = "agent:main:x" as never;
    const record = { key, agentId: "main" as never, sessionId: "s", createdAt: 1, updatedAt: 1, entry: {} };
    await sessions.put(record);
    await transcript.append("s", [newEntry(1), newEntry(2)]);
    await sessions.delete(key, { transcript: true });
    assert.equal(await transcript.append("s", [newEntry(3)]), 1);
  });
}

const anyAppend = fc.record({
  session: fc.constantFrom("a", "b", "c"),
  entries: fc.array(anyEntry, { maxLength: 4 }),
});

function newEntry(index: number): TranscriptEntry {
  return { id: `e${index}`, type: "message", at: index, body: { index } };
}
