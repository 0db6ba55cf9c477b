// Reports the result of a webhook's turn once, with the real agents and store, also when a write fails for a while.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { MAIN, openTestAgents, scriptedBook, text } from "../../../test/harness/agent.ts";
import type { Log } from "../../base/log.ts";
import { createOutbound } from "../../channel/outbound.ts";
import { OpenClawError } from "../../core/error.ts";
import type { SessionKey } from "../../core/names.ts";
import { createFollower, type PendingReport } from "./follow.ts";
import { PENDING_REPORTS } from "./pending-reports.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };

test("reports a result that could not be reported at first, without a restart, and once", async (t) => {
  const runtime = await openTestAgents({ models: scriptedBook(() => text("the build is red")) });
  t.after(() => runtime.close());
  const { store, agents, lines } = runtime;
  let refusals = 2;
  const reports: string[] = [];
  const follower = createFollower({
    store,
    turns: () => agents,
    async notify(session, words, _mode, together) {
      if (refusals-- > 0) throw new OpenClawError("store.full", "no space left");
      await lines.add(session, words, false, together);
      reports.push(words);
    },
    outbound: createOutbound(new Map()),
    log: silent,
    retryMs: 20,
  });
  const promised: PendingReport = { name: "ci", main: MAIN, wakeMode: "now", deliver: false, channel: "last" };
  await follower.promise("hook-1", promised);
  const turn = {
    runId: "hook-1",
    sessionKey: "agent:main:hook:1" as SessionKey,
    text: "build",
    source: "hook" as const,
  };
  await agents.post({ ...turn, authorised: false });
  follower.follow("hook-1", promised);
  for (let tries = 0; follower.count() > 0 && tries < 3000; tries++) await sleep(20);
  assert.equal(reports.length, 1);
  assert.match(reports[0] ?? "", /^Webhook ci ran; .*the build is red$/);
  assert.deepEqual(await store.kv.list(PENDING_REPORTS), []);
  assert.deepEqual(
    (await lines.peek(MAIN)).map((line) => line.text),
    reports,
  );
  await follower.close();
});

test("polls with a pause for a turn that is not active and has no end", async (t) => {
  const runtime = await openTestAgents({ models: scriptedBook(() => text("never asked")) });
  t.after(() => runtime.close());
  const { store, agents } = runtime;
  await store.inbox.post({ id: "hook-2", sessionKey: MAIN, runId: "hook-2", at: 1, body: {} });
  let asked = 0;
  const follower = createFollower({
    store,
    turns: () => ({ ...agents, wait: (...args) => ((asked += 1), agents.wait(...args)) }),
    notify: () => Promise.resolve(),
    outbound: createOutbound(new Map()),
    log: silent,
  });
  follower.follow("hook-2", { name: "ci", main: MAIN, wakeMode: "now", deliver: false, channel: "last" });
  for (let tries = 0; asked === 0 && tries < 3000; tries++) await sleep(20);
  await sleep(200);
  assert.equal(asked, 1);
  await follower.close();
});
