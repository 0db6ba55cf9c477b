import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { checker, Type } from "../../../src/core/schema.ts";
import { checkValue } from "./check.ts";
import { canShow, readDraft, toDraft, type Draft } from "./draft.ts";
import type { Schema } from "./field.ts";

const wire = (schema: object): Schema => JSON.parse(JSON.stringify(schema)) as Schema;

const toolSchema = Type.Object(
  {
    path: Type.String({ minLength: 1 }),
    content: Type.String(),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000 })),
    ratio: Type.Optional(Type.Number()),
    force: Type.Optional(Type.Boolean()),
    mode: Type.Optional(Type.Union([Type.Literal("fast"), Type.Literal("slow")])),
    tags: Type.Optional(Type.Array(Type.String())),
    target: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String(), { minItems: 1 })])),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    edits: Type.Optional(Type.Array(Type.Object({ oldText: Type.String(), newText: Type.String() }))),
    options: Type.Optional(Type.Object({ name: Type.String(), depth: Type.Optional(Type.Integer()) })),
  },
  { additionalProperties: false },
);
const schema = wire(toolSchema);
const members = (drafts: Record<string, Draft>): Draft => ({ members: drafts });

test("untouched optional fields are left out, empty long text is kept", () => {
  assert.deepEqual(readDraft(schema, members({ path: "a.txt" })), {
    value: { path: "a.txt", content: "" },
    issues: [],
  });
});

test("reports missing fields, bad numbers and limits at their path", () => {
  const reading = readDraft(schema, members({ limit: "many", options: members({ depth: "2" }) }));
  assert.deepEqual(reading.issues, [
    { path: "/path", message: "Required." },
    { path: "/limit", message: "Must be a number." },
    { path: "/options/name", message: "Required." },
  ]);
  assert.deepEqual(readDraft(schema, members({ path: "a", limit: "0" })).issues, [
    { path: "/limit", message: "Must be at least 1." },
  ]);
});

test("an untouched optional object has no required fields", () => {
  const reading = readDraft(schema, members({ path: "a", options: members({ name: "", depth: "" }) }));
  assert.deepEqual(reading, { value: { path: "a", content: "" }, issues: [] });
});

test("converts every kind of field to its value", () => {
  const reading = readDraft(
    schema,
    members({
      path: "a",
      content: "x\n",
      limit: "20",
      ratio: "0.5",
      force: "false",
      mode: "1",
      tags: ["one", ""],
      target: { pick: "1", draft: ["t"] },
      env: '{"A":"1"}',
      edits: [members({ oldText: "o" })],
      options: members({ name: "n" }),
    }),
  );
  assert.deepEqual(reading, {
    issues: [],
    value: {
      path: "a",
      content: "x\n",
      limit: 20,
      ratio: 0.5,
      force: false,
      mode: "slow",
      tags: ["one", ""],
      target: ["t"],
      env: { A: "1" },
      edits: [{ oldText: "o", newText: "" }],
      options: { name: "n" },
    },
  });
});

test("a value that the fields would change is not shown in fields", () => {
  assert.equal(canShow(schema, { path: "a", content: "c" }), true);
  assert.equal(canShow(schema, { path: "a", content: "c", other: 1 }), false);
  assert.equal(canShow(schema, { path: "a", content: "c", tags: [] }), false);
  assert.equal(canShow(schema, { path: 7, content: "c" }), false);
  assert.equal(canShow(schema, "text"), false);
});

const anyText = fc.string({ unit: "grapheme", minLength: 1 });
// Through JSON like all wire values: fast-check creates objects without a prototype.
const anyArguments = fc
  .record(
    {
      path: anyText,
      content: fc.string(),
      limit: fc.integer({ min: 1, max: 2000 }),
      ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
      force: fc.boolean(),
      mode: fc.constantFrom("fast", "slow"),
      tags: fc.array(fc.string(), { minLength: 1 }),
      target: fc.oneof(anyText, fc.array(anyText, { minLength: 1 })),
      env: fc.dictionary(anyText, anyText),
      edits: fc.array(fc.record({ oldText: fc.string(), newText: fc.string() }), { minLength: 1 }),
      options: fc.record({ name: anyText, depth: fc.integer() }, { requiredKeys: ["name"] }),
    },
    { requiredKeys: ["path", "content"] },
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);

test("valid arguments survive a round trip through the fields", () => {
  fc.assert(
    fc.property(anyArguments, (value) => {
      assert.deepEqual(readDraft(schema, toDraft(schema, value)), { value, issues: [] });
      assert.equal(canShow(schema, value), true);
    }),
  );
});

test("the page rejects exactly the values that the gateway rejects", () => {
  const gateway = checker(toolSchema);
  const wild = fc.oneof(
    fc.jsonValue(),
    fc.record({
      path: fc.jsonValue(),
      content: fc.jsonValue(),
      limit: fc.jsonValue(),
      mode: fc.jsonValue(),
      target: fc.jsonValue(),
    }),
    anyArguments,
  );
  fc.assert(
    fc.property(wild, (value) => {
      assert.equal(checkValue(schema, value).length === 0, gateway.is(value), JSON.stringify(value));
    }),
  );
});
