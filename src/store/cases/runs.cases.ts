// Contract cases of the table of runs.
import assert from "node:assert/strict";
import { it } from "node:test";

import type { Ground } from "./context.ts";
import type { RunRecord } from "../store.ts";
import { keyOf } from "./sample.ts";

export function runCases(ground: Ground): void {
  it("keeps a run and its outcome over a restart", async () => {
    await ground.store().runs.put(newRun("r1"));
    const ended: RunRecord = { ...newRun("r1"), state: "ok", endedAt: 9, body: { usage: 1 } };
    await ground.store().runs.put(ended);
    const store = await ground.restart();
    assert.deepEqual(await store.runs.get("r1"), ended);
    assert.equal(await store.runs.get("nobody"), undefined);
  });

  it("lists runs that were still running before a restart, in the order of their start", async () => {
    for (const id of ["b", "a", "c"]) await ground.store().runs.put(newRun(id));
    await ground.store().runs.put({ ...newRun("a"), state: "aborted", endedAt: 3 });
    const store = await ground.restart();
    assert.deepEqual(await store.runs.open(), [newRun("b"), newRun("c")]);
  });

  it("prunes only runs that ended before the given time", async () => {
    const { runs } = ground.store();
    await runs.put({ ...newRun("old"), state: "error", endedAt: 5 });
    await runs.put({ ...newRun("new"), state: "ok", endedAt: 50 });
    await runs.put(newRun("open"));
    assert.equal(await runs.prune(10), 1);
    assert.equal(await runs.get("old"), undefined);
    assert.deepEqual(await runs.open(), [newRun("open")]);
  });
}

function newRun(id: string): RunRecord {
  return { id, sessionKey: keyOf("main"), state: "running", startedAt: 1, body: { asked: id } };
}
