// Arguments of a command: what is accepted, and the exact message for each mistake.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { defineCommand, UsageError } from "./command.ts";
import { parseWords, wholeNumber } from "./parse.ts";

const command = defineCommand({
  arguments: [
    { name: "path", description: "a path" },
    { name: "rest", description: "more", optional: true, many: true },
  ],
  options: {
    limit: { type: "string", value: "n", short: "l", description: "" },
    kind: { type: "string", choices: ["a", "b"], description: "" },
    scope: { type: "string", multiple: true, description: "" },
    follow: { type: "boolean", short: "f", description: "" },
    "no-open": { type: "boolean", description: "" },
  },
  examples: [],
  run: async () => 0,
});
const parse = (...words: string[]) => parseWords(words, command, ["x", "y"]);

test("accepts options in every position and form", () => {
  assert.deepEqual(parse("--limit", "5", "a", "-f", "--no-open"), {
    options: { limit: "5", follow: true, "no-open": true },
    arguments: ["a"],
  });
  assert.deepEqual(parse("a", "--limit=5=6", "-l", "7"), { options: { limit: "7" }, arguments: ["a"] });
  assert.deepEqual(parse("--scope", "1", "a", "--scope=2"), { options: { scope: ["1", "2"] }, arguments: ["a"] });
  assert.deepEqual(parse("a", "--json", "--profile", "p"), { options: { json: true, profile: "p" }, arguments: ["a"] });
});

test("accepts values that look like options", () => {
  assert.deepEqual(parse("-5", "-.5", "-").arguments, ["-5", "-.5", "-"]);
  assert.deepEqual(parse("--limit", "-5", "a").options, { limit: "-5" });
  assert.deepEqual(parse("--", "--limit", "-x"), { options: {}, arguments: ["--limit", "-x"] });
  assert.deepEqual(parse("--limit=", "a").options, { limit: "" });
});

test("complaints", () => {
  const cases: [string[], string][] = [
    [["a", "--limt", "5"], "unknown option --limt; did you mean --limit?"],
    [["a", "--zzzzzzzz=5"], "unknown option --zzzzzzzz"],
    [["a", "-q"], "unknown option -q"],
    [["a", "--limit"], "--limit needs a value: --limit <n>"],
    [["a", "--limit", "--follow"], "--limit needs a value: --limit <n>"],
    [["a", "--follow=1"], "--follow takes no value"],
    [["a", "--kind", "c"], '--kind must be one of a, b, not "c"'],
    [[], "missing <path>: a path"],
  ];
  for (const [words, message] of cases) {
    assert.throws(
      () => parse(...words),
      (error) => error instanceof UsageError && error.message === message && error.helpFor.join(" ") === "x y",
      message,
    );
  }
});

test("rejects an unexpected argument", () => {
  const none = defineCommand({ examples: [], run: async () => 0 });
  assert.throws(() => parseWords(["a"], none, ["x"]), {
    message: 'unexpected argument: "a"; openclaw x takes no arguments',
  });
});

test("accepts whole numbers only", () => {
  const range = { min: 1, max: 10 };
  assert.deepEqual([wholeNumber("n", undefined, range), wholeNumber("n", "7", range)], [undefined, 7]);
  for (const bad of ["0", "11", "1.5", "1e1", "-1", "", " 1", "0x1", "NaN"])
    assert.throws(() => wholeNumber("n", bad, range), UsageError, bad);
});

test("parses any input or rejects it with a UsageError", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.string(),
          fc.constantFrom("--limit", "--", "-f", "--kind=a", "__proto__", "--__proto__", "--constructor=1"),
        ),
      ),
      (words) => {
        try {
          const parsed = parse(...words);
          assert.equal(Object.getPrototypeOf(parsed.options), Object.prototype);
        } catch (error) {
          assert.ok(error instanceof UsageError, String(error));
        }
      },
    ),
  );
});
