// A state is accepted only as it was given out, for the request it was given out for, and not for long.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { createRequestStates } from "./request-state.ts";

const REQUEST = ["tools/call", "exec", { command: "ls" }, "agent:main:main"];

test("returns what was signed", () => {
  const states = createRequestStates({ now: () => 0 });
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.option(fc.string(), { nil: undefined }),
      (answers, id) => {
        const state = { answers, ...(id === undefined ? {} : { approval: id }) };
        const known = JSON.parse(JSON.stringify(state)) as typeof state;
        assert.deepEqual(states.verify(states.sign(state, REQUEST), REQUEST), known);
      },
    ),
  );
});

test("refuses a state that was changed anywhere, or belongs to another request or process", () => {
  const states = createRequestStates({ now: () => 0 });
  const text = states.sign({ answers: { a: 1 }, approval: "x" }, REQUEST);
  fc.assert(
    fc.property(fc.nat(text.length - 1), fc.constantFrom("A", "z", "0", "-", "_", ".", "=", "%"), (at, letter) => {
      const changed = text.slice(0, at) + letter + text.slice(at + 1);
      fc.pre(changed !== text);
      assert.equal(states.verify(changed, REQUEST), undefined, changed);
    }),
  );
  for (const other of [`${text}-TAMPERED`, `${text}.`, ` ${text}`, "", ".", undefined, 7, {}])
    assert.equal(states.verify(other, REQUEST), undefined);
  assert.equal(states.verify(text, ["tools/call", "exec", { command: "rm" }, "agent:main:main"]), undefined);
  assert.equal(createRequestStates({ now: () => 0 }).verify(text, REQUEST), undefined);
});

test("refuses a state after an hour", () => {
  let now = 0;
  const states = createRequestStates({ now: () => now });
  const text = states.sign({ answers: {} }, REQUEST);
  now = 3_600_000;
  assert.notEqual(states.verify(text, REQUEST), undefined);
  now++;
  assert.equal(states.verify(text, REQUEST), undefined);
});
