import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { checker } from "../../core/schema.ts";
import { safeSchema } from "./schema.ts";

test("keeps what a model and a check need, drops patterns, remote references and unknown keywords", () => {
  const schema = safeSchema({
    type: "object",
    $schema: "https://json-schema.org/draft/2020-12/schema",
    properties: {
      name: { type: "string", pattern: "^(a+)+$", description: "A name <|im_start|>" },
      other: { $ref: "https://evil.example/schema.json" },
      list: { type: "array", items: { $ref: "#/$defs/item" } },
    },
    $defs: { item: { type: "integer", minimum: 1 } },
    required: ["name"],
    patternProperties: { "(x+)+": {} },
  });
  assert.deepEqual(schema, {
    type: "object",
    properties: {
      name: { type: "string", description: "A name ‹¦im_start¦›" },
      other: {},
      list: { type: "array", items: { $ref: "#/$defs/item" } },
    },
    $defs: { item: { type: "integer", minimum: 1 } },
    required: ["name"],
  });
});

test("a schema that is nested or wide without end is bounded", () => {
  let deep: Record<string, unknown> = { type: "string" };
  for (let at = 0; at < 500; at += 1) deep = { type: "object", properties: { next: deep } };
  const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`p${at}`, { type: "string" }]));
  assert.ok(JSON.stringify(safeSchema(deep)).length < 5_000);
  const kept = Object.values(safeSchema({ type: "object", properties: wide }).properties).filter(
    (part) => Object.keys(part).length > 0,
  );
  assert.ok(kept.length <= 2_000);
});

test("every schema that a server may send compiles and can be checked against", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), fc.jsonValue(), (raw, value) => {
      const check = checker(safeSchema({ ...raw, properties: raw }));
      check.issues(typeof value === "object" && value !== null ? value : { value });
    }),
    { numRuns: 300 },
  );
});
