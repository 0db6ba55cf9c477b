// Run events on the wire: recorded shapes, no loss by coalescing, tool events only for clients that asked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import type { RunEvent, RunEventBody, RunOutcome } from "../core/event.ts";
import type { SessionKey } from "../core/names.ts";
import { systemClock } from "../base/clock.ts";
import { createMask } from "../base/mask.ts";
import type { Client } from "./client.ts";
import { fakeClient, readFrame } from "../../test/harness/frames.ts";
import type { Frame } from "./frame-bytes.ts";
import { createHub } from "./hub.ts";
import { createRunEvents } from "./run-events.ts";

interface ReceivedEvent {
  readonly event: string;
  readonly seq?: number;
  readonly payload: {
    readonly stream?: string;
    readonly state?: string;
    readonly data?: Record<string, unknown>;
    readonly message?: { readonly content: { readonly text: string }[] };
    readonly errorMessage?: string;
  };
}

function listen(caps: readonly string[] = []): {
  received: ReceivedEvent[];
  emit: (body: RunEventBody) => void;
  end: () => void;
} {
  const received: ReceivedEvent[] = [];
  const hub = createHub(systemClock);
  const client = {
    role: "operator",
    scopes: ["operator.admin"],
    caps,
    sessions: new Set(["agent:main:main"]),
    send: (frame: Frame) => received.push(readFrame(frame) as ReceivedEvent),
  } as unknown as Client;
  hub.add(client);
  const onEvent = createRunEvents(hub, systemClock, createMask());
  let seq = 0;
  const emit = (body: RunEventBody): void =>
    onEvent({
      runId: "r1",
      sessionKey: "agent:main:main" as SessionKey,
      seq: ++seq,
      ts: 1000 + seq,
      body,
    } satisfies RunEvent);
  return { received, emit, end: () => hub.remove(client) };
}

const outcome = (part: Partial<RunOutcome>): RunOutcome => ({
  runId: "r1",
  sessionKey: "agent:main:main" as SessionKey,
  sessionId: "s1",
  status: "ok",
  startedAt: 1,
  endedAt: 2,
  text: "",
  silent: false,
  toolCalls: 0,
  ...part,
});

test("streams a reply: start, text in order and complete, end, final", async () => {
  const { received, emit, end } = listen();
  emit({ stream: "lifecycle", phase: "start", startedAt: 1 });
  let text = "";
  for (let i = 0; i < 200; i++) {
    const delta = `w${i} `;
    text += delta;
    emit({ stream: "assistant", text, delta });
    if (i % 20 === 0) await sleep(5);
  }
  emit({ stream: "lifecycle", phase: "end", outcome: outcome({ text }) });
  const agent = received.filter(({ event }) => event === "agent");
  assert.deepEqual(agent[0]?.payload.data, { phase: "start", startedAt: 1 });
  assert.deepEqual(agent.at(-1)?.payload.data, { phase: "end", endedAt: 2 });
  const words = agent.filter(({ payload }) => payload.stream === "assistant");
  assert.equal(words.map(({ payload }) => payload.data?.["delta"]).join(""), text);
  assert.ok(words.length < 100, `${words.length} frames for 200 pieces`);
  const chat = received.filter(({ event }) => event === "chat");
  assert.equal(chat.at(-1)?.payload.state, "final");
  assert.equal(chat.at(-1)?.payload.message?.content[0]?.text, text);
  assert.ok(received.every(({ seq }) => typeof seq === "number"));
  end();
});

test("sends text before a tool call before the call", () => {
  const { received, emit, end } = listen(["tool-events"]);
  emit({ stream: "assistant", text: "a", delta: "a" });
  emit({ stream: "assistant", text: "ab", delta: "b" });
  emit({ stream: "tool", phase: "start", name: "read", toolCallId: "c1", args: { path: "x" } });
  emit({
    stream: "tool",
    phase: "result",
    name: "read",
    toolCallId: "c1",
    isError: false,
    result: { content: [{ type: "text", text: "y" }] },
  });
  const order = received.filter(({ event }) => event === "agent").map(({ payload }) => payload.stream);
  assert.deepEqual(order, ["assistant", "assistant", "tool", "tool"]);
  const tool = received.find(({ payload }) => payload.stream === "tool");
  assert.equal(tool?.seq, undefined);
  assert.deepEqual(tool?.payload.data, { phase: "start", name: "read", toolCallId: "c1", args: { path: "x" } });
  end();
});

test("sends tool events only to clients that asked", () => {
  const { received, emit, end } = listen();
  emit({ stream: "tool", phase: "start", name: "read", toolCallId: "c1", args: {} });
  assert.deepEqual(received, []);
  end();
});

test("ends failures, stops and silent turns in their own state", () => {
  for (const [part, state] of [
    [{ status: "error", failure: { code: "model.auth", message: "no key" } }, "error"],
    [{ status: "aborted" }, "aborted"],
    [{ silent: true }, "final"],
  ] as const) {
    const { received, emit, end } = listen();
    emit({ stream: "lifecycle", phase: "end", outcome: outcome(part) });
    const last = received.at(-1)?.payload;
    assert.equal(last?.state, state);
    assert.equal(last?.message, undefined);
    if (state === "error") assert.equal(last?.errorMessage, "no key");
    end();
  }
});

test("with many clients, streams text only to those that asked about the session, and the end to all", () => {
  const hub = createHub(systemClock);
  const watching = fakeClient({ sessions: new Set(["agent:main:main"]) });
  const others = Array.from({ length: 100 }, () => fakeClient());
  for (const client of [watching, ...others]) hub.add(client);
  const onEvent = createRunEvents(hub, systemClock, createMask());
  const event = (seq: number, body: RunEventBody): void =>
    onEvent({ runId: "r1", sessionKey: "agent:main:main" as SessionKey, seq, ts: seq, body });
  event(1, { stream: "lifecycle", phase: "start", startedAt: 1 });
  event(2, { stream: "assistant", text: "one", delta: "one" });
  event(3, { stream: "lifecycle", phase: "end", outcome: outcome({ text: "one" }) });
  const states = (client: typeof watching): unknown[] => {
    client.flush();
    return (client.received as ReceivedEvent[]).map(({ payload, seq }) => [
      payload.stream ?? payload.state,
      typeof seq,
    ]);
  };
  const all = [
    ["lifecycle", "number"],
    ["lifecycle", "number"],
    ["final", "number"],
  ];
  assert.deepEqual(states(others[0] as typeof watching), all);
  assert.deepEqual(states(watching), [all[0], ["assistant", "undefined"], ["delta", "undefined"], all[1], all[2]]);
  for (const client of [watching, ...others]) hub.remove(client);
});
