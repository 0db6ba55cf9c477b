// Contract cases of the table of subagents.
import assert from "node:assert/strict";
import { it } from "node:test";

import type { Ground } from "./context.ts";
import { keyOf, newChild } from "./sample.ts";

export function childCases(ground: Ground): void {
  it("keeps a subagent and its outcome over a restart", async () => {
    await ground.store().children.add(newChild());
    const ended = { ...newChild(), state: "ended" as const, status: "timeout" as const, endedAt: 5, archiveAt: 9 };
    assert.deepEqual(await ground.store().children.update("c1", () => ended), ended);
    const store = await ground.restart();
    assert.deepEqual(await store.children.get("c1"), ended);
    assert.equal(await store.children.get("nobody"), undefined);
  });

  it("rejects a run id that already exists", async () => {
    await ground.store().children.add(newChild());
    await assert.rejects(ground.store().children.add(newChild({ body: "other" })));
    assert.deepEqual(await ground.store().children.get("c1"), newChild());
  });

  it("keeps the first of many concurrent outcomes", async () => {
    const { children } = ground.store();
    await children.add(newChild());
    const end = (status: "ok" | "killed") =>
      children.update("c1", (child) =>
        child.status === undefined ? { ...child, state: "ended", status, endedAt: 2 } : undefined,
      );
    const answers = await Promise.all([end("ok"), end("killed"), end("ok")]);
    assert.deepEqual(
      answers.map((answer) => answer?.status),
      ["ok", undefined, undefined],
    );
    assert.equal((await children.get("c1"))?.status, "ok");
    assert.equal(await children.update("nobody", (child) => child), undefined);
  });

  it("lists the subagents of a requester newest first, and counts the running ones", async () => {
    const { children } = ground.store();
    for (const runId of ["a", "b", "c"]) await children.add(newChild({ runId }));
    await children.add(newChild({ runId: "other", requesterKey: keyOf("work") }));
    await children.update("b", (child) => ({ ...child, state: "told", status: "ok" }));
    const ids = (found: readonly { readonly runId: string }[]) => found.map(({ runId }) => runId);
    assert.deepEqual(ids(await children.ofRequester(keyOf("main"), 2)), ["c", "b"]);
    assert.equal(await children.running(keyOf("main")), 2);
    assert.deepEqual(ids(await children.runningOf(keyOf("main"))), ["a", "c"]);
    assert.deepEqual(ids(await children.open()), ["a", "c", "other"]);
  });

  it("finds subagents that are due for archiving, and drops only archived ones", async () => {
    const { children } = ground.store();
    await children.add(newChild({ runId: "late", archiveAt: 20 }));
    await children.add(newChild({ runId: "soon", archiveAt: 10, state: "told", endedAt: 1 }));
    await children.add(newChild({ runId: "gone", state: "told", endedAt: 1 }));
    assert.equal(await children.nextDue(), 10);
    assert.deepEqual(
      (await children.due(15, 5)).map(({ runId }) => runId),
      ["soon"],
    );
    assert.equal(await children.prune(5), 1);
    assert.equal(await children.get("gone"), undefined);
    assert.notEqual(await children.get("soon"), undefined);
  });
}
