// Contract cases of the inbox.
import assert from "node:assert/strict";
import { it } from "node:test";

import fc from "fast-check";

import type { Ground } from "./context.ts";
import type { InboxEntry, InboxState } from "../store.ts";
import { keyOf } from "./sample.ts";

const main = keyOf("main");
const other = keyOf("other");

export function inboxCases(ground: Ground): void {
  it("keeps an entry from the moment it is posted, also over a restart", async () => {
    const posted = await ground.store().inbox.post(newLetter("l1"));
    assert.deepEqual(posted, { ...newLetter("l1"), state: "pending" });
    const store = await ground.restart();
    assert.deepEqual(await store.inbox.get("l1"), posted);
    assert.equal(await store.inbox.get("nobody"), undefined);
  });

  it("posts an id once: a second post changes nothing and returns the stored entry with state and result", async () => {
    const { inbox } = ground.store();
    await inbox.post(newLetter("l1"));
    const twice = { ...newLetter("l1"), body: "another", runId: "another", at: 99 };
    assert.deepEqual(await inbox.post(twice), { ...newLetter("l1"), state: "pending" });
    await inbox.claim(main, 1);
    await inbox.finish("l1", "done", { text: "answer" });
    assert.deepEqual(await inbox.post(twice), { ...newLetter("l1"), state: "done", result: { text: "answer" } });
    assert.deepEqual(await inbox.claim(main, 10), []);
  });

  it("claims the entries of one session in the order of posting, each once", async () => {
    const { inbox } = ground.store();
    await Promise.all([
      inbox.post({ ...newLetter("late"), at: 9 }),
      inbox.post({ ...newLetter("early"), at: 1 }),
      inbox.post(newLetter("theirs", other)),
      inbox.post(newLetter("third")),
    ]);
    const [first, rest] = await Promise.all([inbox.claim(main, 2), inbox.claim(main, 2)]);
    assert.deepEqual(
      first.map(({ id, state }) => [id, state]),
      [
        ["late", "claimed"],
        ["early", "claimed"],
      ],
    );
    assert.deepEqual(
      rest.map(({ id }) => id),
      ["third"],
    );
    assert.deepEqual(await inbox.waiting(), [other]);
  });

  it("finishes once: the first result counts, an unknown entry is an error", async () => {
    const { inbox } = ground.store();
    await inbox.post(newLetter("l1"));
    await inbox.finish("l1", "failed", "why");
    await inbox.finish("l1", "done", "late");
    assert.deepEqual(await inbox.get("l1"), { ...newLetter("l1"), state: "failed", result: "why" });
    await assert.rejects(inbox.finish("nobody", "done", 1), { code: "store.not-found" });
  });

  it("makes entries that a dead process had claimed pending again, in the old order", async () => {
    for (const id of ["a", "b", "c", "d"]) await ground.store().inbox.post(newLetter(id));
    await ground.store().inbox.claim(main, 3);
    await ground.store().inbox.finish("b", "done", null);
    const { inbox } = await ground.restart();
    assert.equal(await inbox.reclaim(), 2);
    assert.equal(await inbox.reclaim(), 0);
    assert.deepEqual(
      (await inbox.claim(main, 10)).map(({ id }) => id),
      ["a", "c", "d"],
    );
  });

  it("lists the sessions with pending entries, the longest waiting first", async () => {
    const { inbox } = ground.store();
    assert.deepEqual(await inbox.waiting(), []);
    await inbox.post(newLetter("1", other));
    await inbox.post(newLetter("2", main));
    await inbox.post(newLetter("3", other));
    assert.deepEqual(await inbox.waiting(), [other, main]);
    await inbox.claim(other, 1);
    assert.deepEqual(await inbox.waiting(), [main, other]);
  });

  it("prunes only finished entries that are old enough", async () => {
    const { inbox } = ground.store();
    for (const [id, at] of Object.entries({ old: 1, open: 1, fresh: 50 })) await inbox.post({ ...newLetter(id), at });
    await inbox.finish("old", "done", null);
    await inbox.finish("fresh", "failed", null);
    assert.equal(await inbox.prune(10), 1);
    assert.equal(await inbox.get("old"), undefined);
    assert.equal((await inbox.get("open"))?.state, "pending");
    assert.equal((await inbox.get("fresh"))?.state, "failed");
  });

  it("agrees with a simple model over any sequence of posts, claims, results and restarts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), async (steps) => {
        const round = `${Math.random()}`;
        const model: { id: string; session: number; state: InboxState }[] = [];
        const sessionOf = (session: number): ReturnType<typeof keyOf> => keyOf(`${round}-${session}`);
        for (const step of steps) {
          const { inbox } = ground.store();
          const id = `${round}-${step.entry}`;
          const known = model.find((entry) => entry.id === id);
          if (step.verb === "post") {
            await inbox.post(newLetter(id, sessionOf(step.session)));
            if (known === undefined) model.push({ id, session: step.session, state: "pending" });
          } else if (step.verb === "claim") {
            const due = model
              .filter(({ session, state }) => session === step.session && state === "pending")
              .slice(0, 2);
            const claimed = await inbox.claim(sessionOf(step.session), 2);
            assert.deepEqual(
              claimed.map((entry) => entry.id),
              due.map((entry) => entry.id),
            );
            for (const entry of due) entry.state = "claimed";
          } else if (step.verb === "finish" && known !== undefined) {
            await inbox.finish(id, "done", null);
            known.state = "done";
          } else if (step.verb === "restart") {
            const open = model.filter(({ state }) => state === "claimed");
            assert.equal(await (await ground.restart()).inbox.reclaim(), open.length);
            for (const entry of open) entry.state = "pending";
          }
        }
        for (const { id, state } of model) assert.equal((await ground.store().inbox.get(id))?.state, state);
        await ground.store().inbox.reclaim();
      }),
      { numRuns: 40 },
    );
  });
}

const anyStep = fc.record({
  verb: fc.constantFrom("post", "post", "claim", "finish", "restart"),
  entry: fc.integer({ min: 0, max: 9 }),
  session: fc.integer({ min: 0, max: 2 }),
});

function newLetter(id: string, sessionKey = main): Pick<InboxEntry, "id" | "sessionKey" | "runId" | "at" | "body"> {
  return { id, sessionKey, runId: `run-${id}`, at: 5, body: { text: `letter ${id}` } };
}
