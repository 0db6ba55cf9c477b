// The prompt that is sent: well formed for any transcript, and it only grows at its end.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import type { Message } from "../core/message.ts";
import { assumedFacts } from "./known-models.ts";
import type { ModelRequest } from "./model.ts";
import { canThink, toPrompt, type Target } from "./translate.ts";
import { plainCallId, type Dialect } from "./wire.ts";

const dialect: Dialect = {
  name: "strict",
  imagesInResults: true,
  userFirst: true,
  mergeUsers: true,
  callId: plainCallId,
};
const target = (change: Partial<Dialect> = {}, input: readonly string[] = ["text", "image"]): Target => ({
  dialect: { ...dialect, ...change },
  modelId: "m",
  facts: { ...assumedFacts("x", "m"), input },
});
const asRequest = (messages: readonly Message[], system = "Be good."): ModelRequest => ({
  system,
  messages,
  tools: [],
  thinking: "off",
  maxTokens: 10,
  cacheKey: "k",
});

const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.constantFrom("\ud83d", "\ude00 x"));
const anyId = fc.constantFrom("a", "a", "b|c", "", "ü");
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    role: fc.constant("user" as const),
    content: fc.array(fc.record({ type: fc.constant("text" as const), text: anyText }), { maxLength: 2 }),
    timestamp: fc.constant(0),
  }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant("text" as const), text: anyText }),
        fc.record({
          type: fc.constant("toolCall" as const),
          id: anyId,
          name: fc.constant("read"),
          arguments: fc.constant({}),
        }),
      ),
      { maxLength: 3 },
    ),
    timestamp: fc.constant(0),
  }),
  fc.record({
    role: fc.constant("toolResult" as const),
    toolCallId: anyId,
    toolName: fc.constant("read"),
    content: fc.array(fc.record({ type: fc.constant("text" as const), text: anyText }), { maxLength: 2 }),
    isError: fc.boolean(),
    timestamp: fc.constant(0),
  }),
);

test("turns any transcript into a prompt that every vendor accepts", () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
      const [system, ...turns] = toPrompt(asRequest(messages), target());
      assert.equal(system?.role, "system");
      const seen = new Set<string>();
      for (const [at, turn] of turns.entries()) {
        if (at === 0) assert.equal(turn.role, "user");
        if (turn.role === "user") assert.notEqual(turns[at - 1]?.role, "user");
        assert.ok(turn.content.length > 0, "an empty turn");
        assert.ok(
          JSON.stringify(turn).isWellFormed() && !/\\ud[89a-f]/i.test(JSON.stringify(turn)),
          "half a character",
        );
        const ids =
          turn.role === "assistant"
            ? turn.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))
            : [];
        for (const id of ids) assert.ok(/^[\w-]{1,64}$/.test(id) && !seen.has(id), `id ${id}`);
        for (const id of ids) seen.add(id);
        const next = turns[at + 1];
        const answered =
          next?.role === "tool" ? next.content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : [])) : [];
        assert.deepEqual(answered, ids);
      }
    }),
    { numRuns: 500 },
  );
});

test("a longer conversation keeps the bytes of the shorter one", () => {
  const whole: Message[] = Array.from({ length: 30 }, (_, at): Message =>
    at % 2 === 0
      ? { role: "user", content: [{ type: "text", text: `question ${at}` }], timestamp: at }
      : { role: "assistant", content: [{ type: "text", text: `answer ${at}` }], timestamp: at },
  );
  const bytes = (count: number): string =>
    JSON.stringify(toPrompt(asRequest(whole.slice(0, count)), target())).slice(0, -1);
  for (let count = 1; count < whole.length; count += 1) assert.ok(bytes(count + 1).startsWith(bytes(count)));
});

test("puts cache marks on the system text and the last turns, at most four", () => {
  const messages: Message[] = Array.from({ length: 9 }, (_, at): Message =>
    at % 2 === 0
      ? { role: "user", content: [{ type: "text", text: `q${at}` }], timestamp: 0 }
      : { role: "assistant", content: [{ type: "text", text: `a${at}` }], timestamp: 0 },
  );
  const prompt = toPrompt(asRequest(messages), target({ cacheMarks: "vendor", mergeUsers: false }));
  const marked = prompt.flatMap(({ providerOptions }, at) => (providerOptions === undefined ? [] : [at]));
  assert.deepEqual(marked, [0, 7, 9]);
});

test("mentions images that cannot be shown, and sends them after a result that cannot contain them", () => {
  const picture = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
  const messages: Message[] = [
    { role: "user", content: [picture], timestamp: 0 },
    { role: "assistant", content: [{ type: "toolCall", id: "c", name: "camera", arguments: {} }], timestamp: 0 },
    { role: "toolResult", toolCallId: "c", toolName: "camera", content: [picture], isError: false, timestamp: 0 },
  ];
  const blind = JSON.stringify(toPrompt(asRequest(messages), target({}, ["text"])));
  assert.ok(!blind.includes("AAAA") && blind.includes("picture left out"));
  const roles = toPrompt(asRequest(messages), target({ imagesInResults: false })).map(({ role }) => role);
  assert.deepEqual(roles, ["system", "user", "assistant", "tool", "user"]);
});

test("turns reasoning off for a vendor that lacks the reasoning of replayed calls", () => {
  const call = { type: "toolCall", id: "c", name: "read", arguments: {} } as const;
  const begun = (replay?: unknown): Message[] => [
    { role: "user", content: [{ type: "text", text: "x" }], timestamp: 0 },
    { role: "assistant", content: [call], timestamp: 0, ...(replay === undefined ? {} : { replay }) },
  ];
  const strict = target({ thinkingNeedsReplay: true });
  const own = {
    dialect: "strict",
    model: "m",
    parts: [
      { type: "thinking", text: "t" },
      { type: "call", id: "c" },
    ],
  };
  assert.deepEqual(
    [
      canThink(begun(), strict),
      canThink(begun(own), strict),
      canThink(begun({ ...own, model: "other" }), strict),
      canThink(begun(), target()),
    ],
    [false, true, false, true],
  );
  assert.equal(
    canThink([...begun(), { role: "user", content: [], timestamp: 0 }], strict),
    true,
    "an earlier turn is over",
  );
});
