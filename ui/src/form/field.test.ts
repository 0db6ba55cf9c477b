import assert from "node:assert/strict";
import { test } from "node:test";

import { Type } from "../../../src/core/schema.ts";
import { fieldOf, isAlias, variantLabel, type Schema } from "./field.ts";

/** As it comes over the wire: plain JSON. */
const wire = (schema: object): Schema => JSON.parse(JSON.stringify(schema)) as Schema;
const kind = (schema: object, name?: string): string => fieldOf(wire(schema), name).kind;

test("plain types have their own fields", () => {
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

test("long text is told by name, limit or media type", () => {
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

test("a branch that only allows null disappears", () => {
  assert.deepEqual(fieldOf(wire(Type.Union([Type.String(), Type.Null()]))), { kind: "text", multiline: false });
  assert.deepEqual(fieldOf({ type: ["integer", "null"] }), { kind: "number" });
});

test("other unions offer their variants", () => {
  const field = fieldOf(wire(Type.Union([Type.String(), Type.Array(Type.String())])));
  assert.equal(field.kind, "variants");
  assert.deepEqual(field.kind === "variants" && field.variants.map(variantLabel), ["text", "list of text"]);
});

test("members know whether they are required", () => {
  const field = fieldOf(wire(Type.Object({ path: Type.String(), limit: Type.Optional(Type.Integer()) })));
  assert.deepEqual(field.kind === "object" && field.members.map(({ name, required }) => [name, required]), [
    ["path", true],
    ["limit", false],
  ]);
});

test("second names of an argument are told from arguments of their own", () => {
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

test("what has no fixed fields is typed as JSON", () => {
  const kinds = [
    {},
    { type: "object" },
    Type.Record(Type.String(), Type.String()),
    { type: "array" },
    { $ref: "#/x" },
  ].map((schema) => kind(schema));
  assert.deepEqual(kinds, ["json", "json", "json", "json", "json"]);
});
