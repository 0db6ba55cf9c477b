import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { applyChange, newRun, type Run } from "./run.ts";
import { readAgentEvent, readChatEvent, type RunEvent } from "./parse-events.ts";

const facts = { runId: "r", sessionKey: "agent:main:main" };
const assistant = (seq: number, text: string): unknown => ({
  ...facts,
  seq,
  stream: "assistant",
  data: { text, delta: "" },
});
const tool = (seq: number, phase: string, more: object = {}, toolCallId = "t1"): unknown => ({
  ...facts,
  seq,
  stream: "tool",
  data: { phase, name: "exec", toolCallId, ...more },
});
const chat = (seq: number, state: string, text?: string): unknown => ({
  ...facts,
  seq,
  state,
  ...(text === undefined
    ? {}
    : { message: { role: "assistant", content: [{ type: "text", text }], timestamp: 7, model: "m" } }),
});
const block = (text: string): object => ({ content: [{ type: "text", text }] });

function replay(payloads: readonly unknown[], first: Run = newRun("r", 0)): Run {
  return payloads.reduce<Run>((run, payload) => {
    const event: RunEvent | undefined = readChatEvent(payload) ?? readAgentEvent(payload);
    assert.ok(event, JSON.stringify(payload));
    return applyChange(run, event.change, event.seq);
  }, first);
}

test("builds a run from text, live tool output and the end", () => {
  const run = replay([
    { ...facts, seq: 1, stream: "lifecycle", data: { phase: "start", startedAt: 1 } },
    assistant(2, "Let me"),
    assistant(3, "Let me look."),
    tool(4, "start", { args: { command: "ls" } }),
    tool(5, "update", { partialResult: block("a") }),
    tool(6, "result", { isError: false, result: { ...block("a b"), details: { exitCode: 0 } } }),
    assistant(7, "Two"),
    chat(8, "final", "Two files."),
  ]);
  assert.deepEqual(run, {
    ...newRun("r", 0),
    phase: "final",
    textSeq: 7,
    hasAgentText: true,
    final: {
      role: "assistant",
      content: [{ type: "text", text: "Two files." }],
      timestamp: 7,
      model: "m",
    },
    parts: [
      { kind: "text", text: "Let me look." },
      {
        kind: "tool",
        id: "t1",
        name: "exec",
        args: { command: "ls" },
        state: "done",
        outcome: { content: [{ type: "text", text: "a b" }], details: { exitCode: 0 } },
      },
      { kind: "text", text: "Two files." },
    ],
  });
});

test("the chat stream alone is enough and never overwrites newer text of the agent stream", () => {
  assert.deepEqual(replay([chat(1, "delta", "a"), chat(2, "delta", "a b")]).parts, [{ kind: "text", text: "a b" }]);
  assert.deepEqual(replay([assistant(3, "a b c"), chat(3, "delta", "a b"), chat(4, "delta", "a b")]).parts, [
    { kind: "text", text: "a b c" },
  ]);
});

test("ignores older text that arrives late", () => {
  assert.deepEqual(replay([assistant(5, "newer"), assistant(4, "old")]).parts, [{ kind: "text", text: "newer" }]);
});

test("a failed tool shows its output", () => {
  const [part] = replay([tool(1, "result", { isError: true, result: block("no such file") })]).parts;
  assert.deepEqual(part, {
    kind: "tool",
    id: "t1",
    name: "exec",
    args: undefined,
    state: "failed",
    outcome: { content: [{ type: "text", text: "no such file" }] },
  });
});

test("a tool that still runs when its run ends has failed", () => {
  const stopped = replay([assistant(1, "I"), tool(2, "start", { args: {} }), chat(3, "aborted")]);
  assert.deepEqual(
    [stopped.phase, stopped.parts.map((part) => (part.kind === "tool" ? part.state : part.kind))],
    ["aborted", ["text", "failed"]],
  );
  const broken = replay([
    { ...facts, seq: 1, state: "error", errorMessage: "no key", error: { hint: "openclaw models" } },
  ]);
  assert.deepEqual([broken.phase, broken.failure], ["error", { message: "no key", hint: "openclaw models" }]);
});

test("a rejected message can still succeed later", () => {
  const unsent = newRun("r", 0, "hello", "unsent");
  assert.equal(replay([assistant(1, "hi")], unsent).phase, "running");
});

test("ignores payloads that are no run events", () => {
  for (const payload of [null, 5, "x", {}, { runId: "r" }, { ...facts, state: "later" }, { ...facts, stream: "new" }])
    assert.equal(readChatEvent(payload) ?? readAgentEvent(payload), undefined);
  assert.equal(readAgentEvent({ ...facts, stream: "tool", data: { phase: "start", name: "x" } }), undefined);
});

const anyEvent = fc.oneof(
  fc.record({ seq: fc.nat(20), text: fc.string() }).map(({ seq, text }) => assistant(seq, text)),
  fc.record({ seq: fc.nat(20), text: fc.string() }).map(({ seq, text }) => chat(seq, "delta", text)),
  fc
    .record({
      seq: fc.nat(20),
      phase: fc.constantFrom("start", "update", "result"),
      id: fc.constantFrom("t1", "t2"),
      isError: fc.boolean(),
    })
    .map(({ seq, phase, id, isError }) =>
      tool(
        seq,
        phase,
        phase === "start" ? { args: { id } } : { isError, result: block(id), partialResult: block("…") },
        id,
      ),
    ),
);
const anyEnd = fc.oneof(
  fc.string().map((text) => chat(99, "final", text)),
  fc.constant(chat(99, "final")),
  fc.constant(chat(99, "aborted")),
  fc.constant({ ...facts, seq: 99, state: "error", errorMessage: "x" }),
);

test("property: a repeated event changes nothing", () => {
  fc.assert(
    fc.property(fc.array(anyEvent), anyEnd, (events, end) => {
      const all = [...events, end];
      assert.deepEqual(replay(all.flatMap((event) => [event, event])), replay(all));
    }),
  );
});

test("property: no event changes a run that is over", () => {
  fc.assert(
    fc.property(fc.array(anyEvent), anyEnd, fc.array(fc.oneof(anyEvent, anyEnd)), (events, end, slot) => {
      const over = replay([...events, end]);
      assert.equal(replay(slot, over), over);
    }),
  );
});

test("property: in any order each call is one card, and ended if its result arrived", () => {
  fc.assert(
    fc.property(fc.array(anyEvent), (events) => {
      const run = replay(events);
      const received = events.flatMap((event) => {
        const { stream, data } = event as { stream?: string; data?: { toolCallId: string; phase: string } };
        return stream === "tool" && data !== undefined ? [data] : [];
      });
      const cards = run.parts.flatMap((part) => (part.kind === "tool" ? [part] : []));
      assert.deepEqual(
        cards.map(({ id }) => id).toSorted(),
        [...new Set(received.map(({ toolCallId }) => toolCallId))].toSorted(),
      );
      for (const card of cards) {
        const isEnded = received.some(({ toolCallId, phase }) => toolCallId === card.id && phase === "result");
        assert.equal(card.state !== "running", isEnded);
      }
    }),
  );
});
