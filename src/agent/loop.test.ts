// The loop over scripted ports: messages stay valid for any model output and any stop.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import type { RunEventBody } from "../core/event.ts";
import { textOf, type Message, type UserMessage } from "../core/message.ts";
import { calls, facts, failing, text, usage, type Say } from "../../test/harness/agent.ts";
import { MAX_MODEL_TURNS, MAX_TOOL_CALLS } from "./limits.ts";
import { runLoop, type LoopEnd, type LoopPorts } from "./loop.ts";
import { repairMessages } from "./valid-messages.ts";
import { SKIPPED } from "./result.ts";
import { streamReply } from "./stream.ts";

const user = (words: string): UserMessage => ({ role: "user", content: [{ type: "text", text: words }], timestamp: 0 });

interface Played {
  readonly end: LoopEnd;
  readonly kept: Message[];
  readonly events: RunEventBody[];
  readonly ran: string[];
  readonly requests: (readonly Message[])[];
}

async function play(
  script: (index: number) => Say,
  more: Partial<LoopPorts> = {},
  control = new AbortController(),
): Promise<Played> {
  const kept: Message[] = [user("go")];
  const events: RunEventBody[] = [];
  const ran: string[] = [];
  const requests: (readonly Message[])[] = [];
  const end = await runLoop(
    [user("go")],
    {
      async *model(messages, signal) {
        requests.push([...messages]);
        for (const event of script(requests.length - 1)) {
          if (event === "hang" || "waitMs" in event) control.abort();
          if (signal.aborted) return yield { type: "error", error: { kind: "aborted", message: "stopped" } };
          if (event !== "hang" && !("waitMs" in event)) yield event;
        }
      },
      append: (message) => void kept.push(message),
      save: async () => {},
      callTool: async ({ name, args }) => {
        ran.push(`${name} ${JSON.stringify(args)}`);
        return { content: [{ type: "text", text: `${name} done` }], isError: false };
      },
      isReadOnly: ({ name }) => name === "look",
      isClientTool: (name) => name === "client",
      emit: (body) => events.push(body),
      steer: () => [],
      overflow: async () => undefined,
      reserve: async () => undefined,
      now: () => 0,
      ...more,
    },
    control.signal,
  );
  return { end, kept, events, ran, requests };
}

test("answers the remaining calls with the skip text when a message steers the run", async () => {
  let asked = 0;
  const { kept, ran, requests } = await play(
    (index) => (index === 0 ? calls(["a", {}], ["b", {}], ["c", {}]) : text("ok")),
    { steer: () => (++asked === 1 ? [user("rather do d")] : []) },
  );
  assert.deepEqual(ran, ["a {}"]);
  assert.deepEqual(
    kept.slice(2).map((message) => `${message.role}: ${textOf(message.content)}`),
    ["toolResult: a done", `toolResult: ${SKIPPED}`, `toolResult: ${SKIPPED}`, "user: rather do d", "assistant: ok"],
  );
  assert.equal(textOf(requests[1]?.at(-1)?.content ?? []), "rather do d");
});

test("runs read-only calls in parallel and all others in order", async () => {
  const running = { now: 0, most: 0 };
  const callTool: LoopPorts["callTool"] = async ({ name }) => {
    running.most = Math.max(running.most, ++running.now);
    await new Promise((resolve) => setImmediate(resolve));
    running.now -= 1;
    return { content: [{ type: "text", text: name }], isError: false };
  };
  await play((index) => (index === 0 ? calls(["look", 1], ["look", { a: 2 }], ["look", { a: 3 }]) : text("ok")), {
    callTool,
  });
  assert.equal(running.most, 1, "a bad argument among them keeps the order");
  await play((index) => (index === 0 ? calls(["look", {}], ["look", { a: 2 }], ["look", { a: 3 }]) : text("ok")), {
    callTool,
  });
  assert.equal(running.most, 3);
  running.most = 0;
  await play((index) => (index === 0 ? calls(["look", {}], ["write", {}]) : text("ok")), { callTool });
  assert.equal(running.most, 1);
});

test("warns about a repeated call and then ends the run with a reason", async () => {
  const { end, kept, ran } = await play((index) => calls(["poke", index % 2 === 0 ? { a: 1, b: 2 } : { b: 2, a: 1 }]));
  assert.equal(end.failure?.code, "run.loop");
  assert.match(end.failure?.message ?? "", /poke 5 times in a row/);
  assert.equal(ran.length, 4);
  const results = kept
    .filter(({ role }) => role === "toolResult")
    .map(({ content }) => /several times in a row/.test(textOf(content)));
  assert.deepEqual(results, [false, false, true, true, false]);
  assert.deepEqual(repairMessages(kept), kept);
});

test("limits the model turns and tool calls of a run", async () => {
  const turns = await play((index) => calls(["poke", { index }]));
  assert.deepEqual([turns.end.failure?.code, turns.requests.length], ["run.too-long", MAX_MODEL_TURNS]);
  const many = await play((index) =>
    calls(...Array.from({ length: 60 }, (_, at): [string, unknown, string] => ["poke", { index, at }, `c${at}`])),
  );
  assert.deepEqual([many.end.failure?.code, many.ran.length <= MAX_TOOL_CALLS], ["run.too-long", true]);
  assert.deepEqual(repairMessages(many.kept), many.kept);
});

test("ends the run with calls of the caller's own tools", async () => {
  const { end, kept } = await play(() => calls(["client", { x: 1 }, "c1"], ["a", {}, "c2"]));
  assert.deepEqual([end.status, end.clientCalls], ["ok", [{ id: "c1", name: "client", arguments: '{"x":1}' }]]);
  assert.deepEqual(repairMessages(kept), kept);
});

test("ends the run before a request that exceeds the budget", async () => {
  const { end, requests } = await play(() => text("never"), {
    reserve: async () => ({ code: "budget.spent", message: "used up" }),
  });
  assert.deepEqual([end.status, end.failure?.code, requests.length], ["error", "budget.spent", 0]);
});

test("keeps the text of a failed stream and drops incomplete calls", async () => {
  const { end, kept } = await play(() => [
    { type: "text", delta: "I will " },
    { type: "tool-call", id: "c1", name: "a", arguments: "{}" },
    ...failing("network", "connection lost"),
  ]);
  assert.deepEqual([end.failure?.code, end.text], ["model.network", "I will "]);
  assert.deepEqual(kept[1]?.content, [{ type: "text", text: "I will " }]);
});

test("discards the partial answer of a model after a failover", async () => {
  const ref = { provider: "p", id: "second" };
  const { end } = await play(() => [
    { type: "text", delta: "half of" },
    { type: "model", ref, facts } as never,
    ...text("whole"),
  ]);
  assert.deepEqual([end.text, end.model], ["whole", ref]);
});

test("removes thinking in tags from the reply", async () => {
  const say = ["<thi", "nk>hm, NO_REPLY", "</think>", "Hello <b", ">there"].map(
    (delta) => ({ type: "text", delta }) as const,
  );
  const { end, events } = await play(() => [...say, { type: "end", stop: "stop", usage: usage() }]);
  assert.equal(end.text, "Hello <b>there");
  assert.equal(events.flatMap((body) => (body.stream === "assistant" ? [body.delta] : [])).join(""), "Hello <b>there");
});

test("shows a notice while the model is silent", async () => {
  const noticed = Promise.withResolvers<void>();
  const notices: string[] = [];
  const reply = await streamReply(
    (async function* () {
      yield { type: "model", ref: { provider: "p", id: "slow" }, facts: {} as never } as const;
      await noticed.promise;
      yield { type: "end", stop: "stop", usage: usage() } as const;
    })(),
    (body) => {
      if (body.stream !== "notice") return;
      notices.push(body.text);
      noticed.resolve();
    },
    5,
  );
  assert.deepEqual([notices[0], reply.failure], ["still waiting for p/slow", undefined]);
});

const anyCall = fc.record({
  name: fc.constantFrom("a", "look", "client", "", "weird name"),
  args: fc.oneof(
    fc.json(),
    fc.constantFrom(
      "",
      "{",
      '{"a":',
      '{"a":1,"a":2}',
      "null",
      "[]",
      '"x"',
      "NaN",
      '{"a":NaN}',
      "{}{}",
      `{"a":"${"x".repeat(1000)}`,
    ),
    fc.string(),
  ),
  id: fc.constantFrom("x", "x", "y", "", "z"),
});
const anyTurn = fc.oneof(
  fc
    .array(anyCall, { minLength: 1, maxLength: 5 })
    .map((made): Say => [
      { type: "text", delta: "t" },
      ...made.map(({ name, args, id }) => ({ type: "tool-call", id, name, arguments: args }) as const),
      { type: "end", stop: "tool-calls", usage: usage() },
    ]),
  fc.constantFrom<Say>(
    text("bye"),
    failing("network"),
    failing("garbled"),
    [],
    ["hang"],
    [{ type: "text", delta: "ha" }, "hang"],
  ),
);

test("ends without throwing and with a result for each call, for any input (F28)", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyTurn, { maxLength: 8 }), fc.integer({ min: 0, max: 20 }), async (turns, stopAt) => {
      const control = new AbortController();
      let steps = 0;
      const tick = (): void => {
        if (++steps === stopAt) control.abort();
      };
      const { end, kept, requests } = await play(
        (index) => turns[index] ?? text("end"),
        {
          callTool: async ({ name, args }) => {
            tick();
            assert.equal(typeof args, "object");
            return { content: [{ type: "text", text: name }], isError: false };
          },
          steer: () => {
            tick();
            return steps % 7 === 6 ? [user("steer")] : [];
          },
        },
        control,
      );
      assert.ok(["ok", "error", "aborted"].includes(end.status));
      assert.deepEqual(repairMessages(kept).length, kept.length);
      for (const messages of requests) assert.deepEqual(repairMessages(messages).length, messages.length);
    }),
    { numRuns: Number(process.env["OPENCLAW_FUZZ_RUNS"] ?? 300) },
  );
});
