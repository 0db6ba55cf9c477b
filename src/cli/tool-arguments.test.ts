// Arguments of a tool as people type them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { UsageError } from "./command.ts";
import { readArguments } from "./tool-arguments.ts";

const properties = async () => ({ path: { type: "string" }, limit: { type: "integer" }, tags: { type: "array" } });
const read = (...words: string[]) => readArguments(words, properties);

test("keeps text where the schema requires text, else parses JSON5, else keeps text", async () => {
  assert.deepEqual(
    await read("path=12", "limit=12", "tags=['a', 'b']", "other=true", "free=hello world", "eq=a=b", "empty="),
    {
      path: "12",
      limit: 12,
      tags: ["a", "b"],
      other: true,
      free: "hello world",
      eq: "a=b",
      empty: "",
    },
  );
});

test("accepts one object or no argument, and rejects everything else", async () => {
  assert.deepEqual(await read("{path: 'x', /* c */ limit: 1,}"), { path: "x", limit: 1 });
  assert.deepEqual(await read(), {});
  for (const words of [["x"], ["=1"], ["{broken"], ["{}", "a=1"]])
    await assert.rejects(read(...words), UsageError, words.join(" "));
});

test("treats __proto__ as an ordinary key", async () => {
  const args = await read("__proto__=1", "a=2");
  assert.equal(Object.getPrototypeOf(args), Object.prototype);
  assert.deepEqual(Object.keys(args), ["__proto__", "a"]);
});
