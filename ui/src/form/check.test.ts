import assert from "node:assert/strict";
import { test } from "node:test";

import { checkValue } from "./check.ts";

const messages = (schema: object, value: unknown): string[] =>
  checkValue({ ...schema }, value).map(({ path, message }) => `${path} ${message}`.trim());

test("checks type and limits of numbers", () => {
  const schema = { type: "number", minimum: 1, exclusiveMaximum: 10, multipleOf: 0.5 };
  assert.deepEqual(
    [0, 10, 1.3, 2.5, "2"].flatMap((value) => messages(schema, value)),
    ["Must be at least 1.", "Must be less than 10.", "Must be a multiple of 0.5.", "Must be a number."],
  );
  assert.deepEqual(messages({ type: "integer", exclusiveMinimum: 0, maximum: 5 }, 0), ["Must be more than 0."]);
  assert.deepEqual(messages({ type: "integer" }, 1.5), ["Must be a whole number."]);
});

test("counts an emoji as one character", () => {
  assert.deepEqual(messages({ type: "string", maxLength: 1 }, "😀"), []);
  assert.deepEqual(messages({ type: "string", minLength: 1 }, ""), ["Must have at least 1 character."]);
  assert.deepEqual(messages({ type: "string", pattern: "^a+$" }, "b"), ["Must match ^a+$."]);
});

test("leaves a pattern that the browser cannot compile to the gateway", () => {
  assert.deepEqual(messages({ type: "string", pattern: "(" }, "b"), []);
});

test("reports problems in lists and objects at their path", () => {
  const schema = {
    type: "object",
    required: ["a/b"],
    properties: { list: { type: "array", maxItems: 2, items: { type: "string" } } },
    additionalProperties: false,
  };
  assert.deepEqual(messages(schema, { list: ["x", 1], more: true }), [
    "/a~1b Required.",
    "/list/1 Must be text.",
    "Unknown field: more",
  ]);
  assert.deepEqual(messages(schema, { "a/b": 1, list: ["", "", ""] }), [
    "Unknown field: a/b",
    "/list Must have at most 2 entries.",
  ]);
});

test("lists the allowed values of a choice", () => {
  assert.deepEqual(messages({ enum: ["a", 1] }, "b"), ['Must be one of "a", 1.']);
  assert.deepEqual(messages({ const: null }, 0), ["Must be null."]);
});

test("reports the problem of the variant that matched furthest", () => {
  const schema = { anyOf: [{ type: "string" }, { type: "object", required: ["id"], properties: {} }] };
  assert.deepEqual(messages(schema, {}), ["/id Required."]);
  assert.deepEqual(messages(schema, 5), ["Does not match any of the allowed forms."]);
  assert.deepEqual(messages(schema, "x"), []);
});
