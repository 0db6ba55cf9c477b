import assert from "node:assert/strict";
import { test } from "node:test";

import { Type } from "../../../src/core/schema.ts";
import { fieldOf, isAlias, variantLabel, type Schema } from "./field.ts";

/** Plain JSON, as it comes over the wire. */
const wire = (schema: object): Schema => JSON.parse(JSON.stringify(schema)) as Schema;
const kind = (schema: object, name?: string): string => fieldOf(wire(schema), name).kind;

test("maps plain types to fields", () => {
  const kinds = [
    Type.String(),
    Type.Integer(),
    Type.Number(),
    Type.Boolean(),
    Type.Array(Type.String()),
    Type.Object({}),
  ].map((schema) => kind(schema));
  assert.deepEqual(kinds, ["text", "number", "number", "boolean", "list", "object"]);
});

test("recognizes long text by name, limit or media type", () => {
  const long = (schema: object, name?: string): boolean => {
    const field = fieldOf(wire(schema), name);
    return field.kind === "text" && field.multiline;
  };
  assert.deepEqual(
    [
      long(Type.String(), "path"),
      long(Type.String(), "content"),
      long(Type.String(), "newText"),
      long(Type.String(), "old_string"),
    ],
    [false, true, true, true],
  );
  assert.deepEqual(
    [long({ type: "string", maxLength: 5000 }), long({ type: "string", maxLength: 40 }, "content")],
    [true, false],
  );
});

test("unions of constants and enums are choices", () => {
  const union = Type.Union([Type.Literal("a"), Type.Literal(2), Type.Literal(false)]);
  assert.deepEqual(fieldOf(wire(union)), {
    kind: "choice",
    options: [
      { label: "a", value: "a" },
      { label: "2", value: 2 },
      { label: "false", value: false },
    ],
  });
  assert.deepEqual(fieldOf({ enum: ["x"] }), { kind: "choice", options: [{ label: "x", value: "x" }] });
});

test("ignores a branch that only allows null", () => {
  assert.deepEqual(fieldOf(wire(Type.Union([Type.String(), Type.Null()]))), { kind: "text", multiline: false });
  assert.deepEqual(fieldOf({ type: ["integer", "null"] }), { kind: "number" });
});

test("offers the variants of other unions", () => {
  const field = fieldOf(wire(Type.Union([Type.String(), Type.Array(Type.String())])));
  assert.equal(field.kind, "variants");
  assert.deepEqual(field.kind === "variants" && field.variants.map(variantLabel), ["text", "list of text"]);
});

test("marks required members", () => {
  const field = fieldOf(wire(Type.Object({ path: Type.String(), limit: Type.Optional(Type.Integer()) })));
  assert.deepEqual(field.kind === "object" && field.members.map(({ name, required }) => [name, required]), [
    ["path", true],
    ["limit", false],
  ]);
});

test("recognizes aliases of an argument", () => {
  const named = (description: string) => Type.Optional(Type.String({ description }));
  const field = fieldOf(
    wire(
      Type.Object({
        path: named("File"),
        file_path: named("Same as path"),
        mode: named("Same as before"),
        old: Type.Optional(Type.String({ deprecated: true })),
        twin: Type.String({ description: "Same as path" }),
      }),
    ),
  );
  const members = field.kind === "object" ? field.members : [];
  assert.deepEqual(
    members.filter((member) => isAlias(member, members)).map(({ name }) => name),
    ["file_path", "old"],
  );
});

test("edits schemas without fixed fields as JSON", () => {
  const kinds = [
    {},
    { type: "object" },
    Type.Record(Type.String(), Type.String()),
    { type: "array" },
    { $ref: "#/x" },
  ].map((schema) => kind(schema));
  assert.deepEqual(kinds, ["json", "json", "json", "json", "json"]);
});
