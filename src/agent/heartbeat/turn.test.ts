import assert from "node:assert/strict";
import { test } from "node:test";

import {
  MAIN,
  openTestAgents,
  scriptedBook,
  text,
  usage,
  type TestAgents,
  type Say,
} from "../../../test/harness/agent.ts";
import { systemClock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { createOutbound, type OutboundMessage } from "../../channel/outbound.ts";
import type { Config } from "../../config/schema/index.ts";
import { DEFAULT_AGENT } from "../../core/names.ts";
import { heartbeatSettings } from "./settings.ts";
import { runSystemTurn, type Report } from "./turn.ts";

const silent: Log = { error() {}, warn() {}, info() {}, debug() {}, child: () => silent };

interface CommandRun {
  readonly runtime: TestAgents;
  readonly sent: OutboundMessage[];
  readonly run: (regular?: boolean) => Promise<Report>;
}

let count = 0;

/** A gateway with one platform, `pigeon`, where the last message to the main session came from. */
async function scene(say: () => Say, heartbeat: object = {}, more: object = {}): Promise<CommandRun> {
  const runtime = await openTestAgents({ models: scriptedBook(say) });
  const sent: OutboundMessage[] = [];
  const config = { agents: { defaults: { heartbeat } }, ...more } as Config;
  const outbound = createOutbound(
    new Map([
      [
        "pigeon",
        async (message: OutboundMessage) => {
          sent.push(message);
          return message.text.includes("lost") ? { state: "failed", reason: "no wind" } : { state: "sent" };
        },
      ],
    ]),
  );
  await runtime.ask("hello");
  const record = await runtime.store.sessions.get(MAIN);
  assert.ok(record !== undefined);
  await runtime.store.sessions.put({
    ...record,
    entry: { ...record.entry, deliveryContext: { channel: "pigeon", to: "roof", accountId: "home" } },
  });
  return {
    runtime,
    sent,
    run: async (regular = true) => {
      const { report } = await runSystemTurn(
        {
          agents: runtime.agents,
          store: runtime.store,
          outbound,
          config: () => config,
          clock: systemClock,
          log: silent,
          closing: new AbortController().signal,
        },
        {
          runId: `beat-${++count}`,
          session: MAIN,
          text: "[heartbeat] look",
          settings: heartbeatSettings(config, DEFAULT_AGENT, () => false),
          regular,
        },
      );
      return report;
    },
  };
}

const pigeon = (heartbeat: object, accounts?: object): object => ({
  channels: { pigeon: { heartbeat, ...(accounts === undefined ? {} : { accounts }) } },
});

test("sends a report to the last chat of the person, once per id", async () => {
  const { runtime, sent, run } = await scene(() => text("The roof leaks."));
  assert.deepEqual(await run(), {
    status: "sent",
    preview: "The roof leaks.",
    hasMedia: false,
    channel: "pigeon",
    to: "roof",
  });
  assert.deepEqual(
    sent.map(({ route, text: words }) => [route, words]),
    [[{ channel: "pigeon", to: "roof", accountId: "home" }, "The roof leaks."]],
  );
  assert.match(sent[0]?.intentId ?? "", /^beat-\d+:news$/);
  await runtime.close();
});

test("sends the same alert once a day, and every report of a wake", async () => {
  const { runtime, sent, run } = await scene(() => text("The roof leaks."));
  assert.deepEqual([(await run()).status, (await run()).status, sent.length], ["sent", "ok", 1]);
  assert.deepEqual([(await run(false)).status, sent.length], ["sent", 2]);
  await runtime.close();
});

test("sends HEARTBEAT_OK only with showOk", async () => {
  const quiet = await scene(() => text("HEARTBEAT_OK"));
  assert.deepEqual([await quiet.run(), quiet.sent.length], [{ status: "ok" }, 0]);
  await quiet.runtime.close();
  const shown = await scene(() => text("HEARTBEAT_OK"), {}, pigeon({ showOk: true }));
  assert.deepEqual([(await shown.run()).status, shown.sent.map((message) => message.text)], ["sent", ["HEARTBEAT_OK"]]);
  await shown.runtime.close();
});

test("runs the turn without a target: none, an unknown channel, or a channel without recipient", async () => {
  for (const target of [{ target: "none" }, { target: "raven" }]) {
    const { runtime, sent, run } = await scene(() => text("The roof leaks."), target);
    const { status, reason, preview } = await run();
    assert.deepEqual([status, reason, preview, sent.length], ["skipped", "no-target", "The roof leaks.", 0]);
    assert.ok(JSON.stringify(await runtime.messages()).includes("The roof leaks."));
    await runtime.close();
  }
});

test("sends to a named channel with `to` and `accountId`, and reports an unknown account", async () => {
  const named = { target: "pigeon", to: "tower", accountId: "work" };
  const known = await scene(() => text("News."), named, pigeon({}, { work: {} }));
  assert.equal((await known.run()).to, "tower");
  assert.deepEqual(known.sent[0]?.route, { channel: "pigeon", to: "tower", accountId: "work" });
  await known.runtime.close();
  const unknown = await scene(() => text("News."), named, pigeon({}, { home: {} }));
  assert.deepEqual([(await unknown.run()).reason, unknown.sent.length], ["unknown-account", 0]);
  await unknown.runtime.close();
});

test("prefers the visibility of the account over that of the channel and of all channels", async () => {
  const more = {
    channels: {
      defaults: { heartbeat: { showAlerts: true } },
      pigeon: { heartbeat: { showAlerts: true }, accounts: { home: { heartbeat: { showAlerts: false } } } },
    },
  };
  const { runtime, sent, run } = await scene(() => text("News."), {}, more);
  assert.deepEqual([(await run()).reason, sent.length], ["alerts-disabled", 0]);
  await runtime.close();
});

test("sends the thinking as a separate message with includeReasoning, also after HEARTBEAT_OK", async () => {
  const thinking: Say = [
    { type: "thinking", delta: "Nothing new." },
    { type: "text", delta: "HEARTBEAT_OK" },
    { type: "end", stop: "stop", usage: usage() },
  ];
  const { runtime, sent, run } = await scene(() => thinking, { includeReasoning: true });
  await run();
  assert.deepEqual(
    sent.map((message) => message.text),
    ["Reasoning:\nNothing new."],
  );
  await runtime.close();
});

test("reports the reason when a platform rejects the report", async () => {
  const { runtime, run } = await scene(() => text("It is lost."));
  const { status, reason } = await run();
  assert.deepEqual([status, reason], ["failed", "no wind"]);
  await runtime.close();
});

test("gives up a beat whose end was not stored instead of polling for it", async () => {
  const { runtime, run } = await scene(() => text("The roof leaks."));
  const id = `beat-${count + 1}`;
  await runtime.store.inbox.post({ id, sessionKey: MAIN, runId: id, at: 1, body: {} });
  assert.deepEqual(await run(), { status: "failed", reason: "its end could not be stored" });
  await runtime.close();
});
