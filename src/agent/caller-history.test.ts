// Messages of a caller reach the model once, however much of the conversation the caller repeats.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";

import type { Message } from "../core/message.ts";
import { PASSED_TO_CALLER, unseenMessages } from "./caller-history.ts";

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }], timestamp: 0 });
const answer = (text: string, ...ids: string[]): Message => ({
  role: "assistant",
  content: [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...ids.map((id) => ({ type: "toolCall" as const, id, name: "weather", arguments: {} })),
  ],
  timestamp: 0,
});
const result = (id: string, text: string): Message => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "weather",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 0,
});
const waiting = [user("weather?"), answer("", "w"), result("w", PASSED_TO_CALLER)];

describe("with a call that waits for its result", () => {
  for (const [title, brought] of [
    ["the result alone", [result("w", "18")]],
    ["the call and the result", [answer("", "w"), result("w", "18")]],
    ["the whole conversation", [user("weather?"), answer("", "w"), result("w", "18")]],
    [
      "the whole conversation with other words beside the call",
      [user("weather?"), answer("Hm.", "w"), result("w", "18")],
    ],
  ] as const)
    test(`takes only the result from ${title}`, () => {
      assert.deepEqual(unseenMessages(waiting, brought), [result("w", "18")]);
    });

  test("takes no message when the result is already stored", () => {
    assert.deepEqual(unseenMessages([...waiting, result("w", "18")], [...waiting.slice(0, 2), result("w", "18")]), []);
  });

  test("converts a late result to text when the conversation has continued", () => {
    const [first, ...more] = unseenMessages([...waiting, user("never mind"), answer("Fine.")], [result("w", "18")]);
    assert.equal(first?.role, "user");
    assert.match(JSON.stringify(first), /weather \(w\):\\n18/);
    assert.deepEqual(more, []);
  });
});

test("takes only the new message after a call, its result and the answer to it", () => {
  const stored = [...waiting, result("w", "18"), answer("It is 18.")];
  const brought = [...waiting.slice(0, 2), result("w", "18"), answer("It is 18.")];
  assert.deepEqual(unseenMessages(stored, [...brought, user("and Bergen?")]), [user("and Bergen?")]);
  assert.deepEqual(unseenMessages(stored, brought), []);
});

test("converts a result to text when a request is repeated after its answer", () => {
  const stored = [...waiting, result("w", "18"), answer("It is 18.")];
  assert.deepEqual(
    unseenMessages(stored, [...waiting.slice(0, 2), result("w", "18")]).map(({ role }) => role),
    ["user"],
  );
});

test("keeps calls and results of an unknown conversation in order and with names", () => {
  const brought = [user("weather?"), answer("Looking.", "a", "b"), result("a", "18"), result("b", "19")];
  assert.deepEqual(unseenMessages([], brought), brought);
});

test("pairs a repeated call id with the last call", () => {
  const stored = [
    ...waiting,
    result("w", "18"),
    answer("It is 18."),
    user("and now?"),
    answer("", "w"),
    result("w", PASSED_TO_CALLER),
  ];
  const brought = [
    ...waiting.slice(0, 2),
    result("w", "18"),
    answer("It is 18."),
    user("and now?"),
    answer("", "w"),
    result("w", "20"),
  ];
  assert.deepEqual(unseenMessages(stored, brought), [result("w", "20")]);
});

test("drops known messages of a conversation whose start was summarized or left out", () => {
  const talk = [user("a"), answer("1"), user("b"), answer("2"), user("c"), answer("3")];
  assert.deepEqual(unseenMessages(talk.slice(2), talk), []);
  assert.deepEqual(unseenMessages(talk, talk.slice(4)), []);
  assert.deepEqual(unseenMessages(talk.slice(0, 4), talk.slice(2)), talk.slice(4));
});

test("recognizes a message with system lines before it", () => {
  assert.deepEqual(unseenMessages([user("System: news\nhi"), answer("yes")], [user("hi"), answer("yes")]), []);
});

test("takes all new messages and no known one from any repeated part of any conversation", () => {
  const words = fc.array(fc.constantFrom("ok", "go on", "why?"), { maxLength: 8 });
  fc.assert(
    fc.property(words, words, fc.nat(8), (before, after, skipped) => {
      const turns = (texts: readonly string[], from: number): Message[] =>
        texts.flatMap((text, index) => [user(text), answer(`answer ${from + index}`)]);
      const stored = turns(before, 0);
      const fresh = turns(
        after.map((text, index) => `${text} ${index}`),
        before.length,
      );
      const repeated = stored.slice(Math.min(skipped, before.length) * 2);
      assert.deepEqual(unseenMessages(stored, [...repeated, ...fresh]), fresh);
    }),
  );
});
