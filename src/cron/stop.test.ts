// A shutdown around a slot: a run that had not begun starts after the restart, under the same row.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turnOfLoop } from "node:timers/promises";

import { OpenClawError } from "../core/error.ts";
import { NOON, openStage, pulse } from "./fixture.cases.ts";

const HOUR = 3_600_000;

test("keeps one row and one start for a stop at any moment between claim and start", async () => {
  for (let turns = 0; turns < 12; turns++) {
    const first = await openStage();
    const { id } = await first.cron.add(pulse(HOUR, { schedule: { kind: "every", everyMs: HOUR, anchorMs: NOON } }));
    first.behave(async ({ signal }) =>
      signal.aborted ? { text: "stopped", isError: true } : { text: "done", isError: false },
    );
    first.clock.pass(HOUR);
    first.cron.reload();
    for (let passed = 0; passed < turns; passed++) await turnOfLoop();
    first.cron.stop();
    await first.cron.close();
    const second = await first.restart();
    await second.settle();
    const rows = await second.rows(id);
    assert.deepEqual(
      rows.map(({ slot, state }) => [slot, state]),
      [[String(NOON + HOUR), "ran"]],
      `stopped after ${turns} turns of the loop`,
    );
    assert.equal(second.starts.length, 1);
    await second.close();
  }
});

test("posts a turn that the closing agents rejected in the next process, under the same run id", async () => {
  const first = await openStage();
  const stopping = new OpenClawError("gateway.stopping", "the gateway is stopping");
  first.refuse(stopping);
  const { id } = await first.cron.add({
    name: "turn",
    schedule: { kind: "at", at: new Date(NOON + HOUR).toISOString() },
    sessionTarget: "isolated",
    payload: { kind: "agentTurn", message: "hi" },
    delivery: { mode: "none" },
    deleteAfterRun: false,
  });
  first.clock.pass(HOUR);
  await first.settle();
  const [claimed] = await first.rows(id);
  assert.equal(claimed?.state, "running");
  const second = await first.restart();
  await second.settle();
  assert.deepEqual(
    second.posted.map(({ runId }) => runId),
    [claimed.runId],
  );
  assert.deepEqual(
    (await second.rows(id)).map(({ state }) => state),
    ["ran"],
  );
  await second.close();
});
