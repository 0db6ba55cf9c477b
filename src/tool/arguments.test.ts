import assert from "node:assert/strict";
import { test } from "node:test";
import { nonBlank } from "./tool.ts";

import { OpenClawError } from "../core/error.ts";
import { checker, Type } from "../core/schema.ts";
import { badArguments } from "./argument-errors.ts";
import { boundArguments, prepareArguments } from "./arguments.ts";
import { foldArguments } from "./fold-arguments.ts";

const tool = {
  name: "sample",
  unrecorded: ["secret"],
  prepare: (raw: Record<string, unknown>) => foldArguments(raw, { cmd: "command" }),
  params: Type.Object(
    {
      command: nonBlank("Command to run."),
      seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 60, description: "Seconds to wait (default 5)." })),
      keys: Type.Optional(Type.Array(Type.String(), { description: 'Key names, such as ["C-c"].' })),
      mode: Type.Optional(Type.Enum(["now", "later"], { type: "string", description: "When to start (default now)." })),
      secret: Type.Optional(Type.String({ description: "Password to send." })),
      at: Type.Optional(
        Type.Object({ hour: Type.Number({ description: "Hour of the day." }) }, { additionalProperties: false }),
      ),
    },
    { additionalProperties: false },
  ),
};
const check = checker(tool.params);

function errorFor(raw: unknown): { readonly message: string; readonly hint: string } {
  try {
    const args = prepareArguments(tool, boundArguments(raw));
    const issues = check.issues(args);
    if (issues.length === 0) return { message: "", hint: "" };
    throw badArguments(tool, args, issues);
  } catch (error) {
    assert.ok(error instanceof OpenClawError && error.code === "tool.bad-arguments", String(error));
    return { message: error.message, hint: error.hint ?? "" };
  }
}

const all = "sample takes command (required), seconds, keys, mode, secret, at";
const rejected: readonly (readonly [args: unknown, message: string, hint: string])[] = [
  [{}, 'sample: missing "command"', all],
  [{ command: "" }, 'sample: missing "command"', "command: Command to run."],
  [{ command: " \n" }, 'sample: "command" is blank', "command: Command to run."],
  [{ command: 5 }, 'sample: "command" must be text, not 5', "command: Command to run."],
  [{ command: "x", when: "now" }, 'sample: sample has no parameter "when"', all],
  [
    { command: "x", seconds: 0 },
    'sample: "seconds" must be at least 1, not 0',
    "seconds: Seconds to wait (default 5).",
  ],
  [
    { command: "x", seconds: 90 },
    'sample: "seconds" must be at most 60, not 90',
    "seconds: Seconds to wait (default 5).",
  ],
  [{ command: "x", keys: "C-c" }, 'sample: "keys" must be a list: ["C-c"]', 'keys: Key names, such as ["C-c"].'],
  [
    { command: "x", mode: "soon" },
    'sample: "mode" must be one of now, later, not "soon"',
    "mode: When to start (default now).",
  ],
  [
    { command: "x", at: { hour: "noon" } },
    'sample: "at.hour" must be a number, not "noon"',
    "at.hour: Hour of the day.",
  ],
  [{ command: "x", keys: [5] }, 'sample: "keys.0" must be text, not 5', 'keys: Key names, such as ["C-c"].'],
  [{ command: "x", at: {} }, 'sample: missing "at.hour"', all],
];

test("names the wrong parameter in plain English and shows how to correct it", () => {
  for (const [args, message, hint] of rejected)
    assert.deepEqual(errorFor(args), { message, hint }, JSON.stringify(args));
});

test("accepts aliases, null for an absent parameter, and numbers written as text", () => {
  assert.deepEqual(errorFor({ cmd: "x", keys: null, seconds: "30" }), { message: "", hint: "" });
});

test("does not repeat a secret value", () => {
  const { message } = errorFor({ command: "x", secret: ["hunter2"] });
  assert.equal(message, 'sample: "secret" must be text, not a list');
});

test("rejects values that JSON cannot carry, and names them", () => {
  assert.match(errorFor({ command: "\ud800" }).message, /^"command" contains half a character/);
  assert.match(errorFor({ at: { hour: Number.NaN } }).message, /^"at.hour" is not a finite number/);
  assert.match(errorFor("ls").message, /must be an object/);
});
