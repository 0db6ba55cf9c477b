import assert from "node:assert/strict";
import { test } from "node:test";

import {
  MAIN,
  openAgentHouse,
  scriptedBook,
  text,
  usage,
  type AgentHouse,
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
  readonly runtime: AgentHouse;
  readonly sent: OutboundMessage[];
  readonly run: (regular?: boolean) => Promise<Report>;
}

let count = 0;

/** A house with one platform, `pigeon`, and a main session last heard from there. */
async function scene(say: () => Say, heartbeat: object = {}, more: object = {}): Promise<CommandRun> {
  const runtime = await openAgentHouse({ models: scriptedBook(say) });
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

test("news goes to where the person was last heard from, once under its id", async () => {
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

test("the same alert within a day is sent once; a wake brings its news each time", async () => {
  const { runtime, sent, run } = await scene(() => text("The roof leaks."));
  assert.deepEqual([(await run()).status, (await run()).status, sent.length], ["sent", "ok", 1]);
  assert.deepEqual([(await run(false)).status, sent.length], ["sent", 2]);
  await runtime.close();
});

test("an all-clear is sent only where showOk asks for it", async () => {
  const quiet = await scene(() => text("HEARTBEAT_OK"));
  assert.deepEqual([await quiet.run(), quiet.sent.length], [{ status: "ok" }, 0]);
  await quiet.runtime.close();
  const shown = await scene(() => text("HEARTBEAT_OK"), {}, pigeon({ showOk: true }));
  assert.deepEqual([(await shown.run()).status, shown.sent.map((message) => message.text)], ["sent", ["HEARTBEAT_OK"]]);
  await shown.runtime.close();
});

test("target none, an unknown channel and a channel without a recipient are no target; the turn still ran", async () => {
  for (const target of [{ target: "none" }, { target: "raven" }]) {
    const { runtime, sent, run } = await scene(() => text("The roof leaks."), target);
    const { status, reason, preview } = await run();
    assert.deepEqual([status, reason, preview, sent.length], ["skipped", "no-target", "The roof leaks.", 0]);
    assert.ok(JSON.stringify(await runtime.messages()).includes("The roof leaks."));
    await runtime.close();
  }
});

test("a named channel with `to` and `accountId`; an account nobody has is said as such", async () => {
  const named = { target: "pigeon", to: "tower", accountId: "work" };
  const known = await scene(() => text("News."), named, pigeon({}, { work: {} }));
  assert.equal((await known.run()).to, "tower");
  assert.deepEqual(known.sent[0]?.route, { channel: "pigeon", to: "tower", accountId: "work" });
  await known.runtime.close();
  const unknown = await scene(() => text("News."), named, pigeon({}, { home: {} }));
  assert.deepEqual([(await unknown.run()).reason, unknown.sent.length], ["unknown-account", 0]);
  await unknown.runtime.close();
});

test("visibility: the account's word over the channel's over that of all channels", async () => {
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

test("includeReasoning sends the thinking as a message of its own, also with an all-clear", async () => {
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

test("what a platform refuses is a failure with its reason", async () => {
  const { runtime, run } = await scene(() => text("It is lost."));
  const { status, reason } = await run();
  assert.deepEqual([status, reason], ["failed", "no wind"]);
  await runtime.close();
});

test("a beat whose end could not be written is given up, not asked about without a pause", async () => {
  const { runtime, run } = await scene(() => text("The roof leaks."));
  const id = `beat-${count + 1}`;
  await runtime.store.inbox.post({ id, sessionKey: MAIN, runId: id, at: 1, body: {} });
  assert.deepEqual(await run(), { status: "failed", reason: "its end could not be stored" });
  await runtime.close();
});
