// F28: every real tool answers any arguments of a model with text, without effects outside the workspace.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";

import type { Message } from "../core/message.ts";
import { openTestAgents, scriptedBook, text, usage, type Say } from "../../test/harness/agent.ts";
import { parseArguments } from "./arguments.ts";

test("parses arguments to an object, or returns the reason why not", () => {
  const rows: [given: string, ok: boolean, reason?: RegExp][] = [
    ["", true],
    ["{}", true],
    ['{"a":1}', true],
    ['{"a":', false, /not valid JSON/],
    ['{"a":1,"a":2}', false, /twice/],
    ['{"a":NaN}', false, /not valid JSON/],
    ["[1]", false, /not a list/],
    ["null", false, /not null/],
    ["[".repeat(100_000), false, /nested deeper/],
    [`{"a":"${"x".repeat(20_000_000)}"}`, false, /20000008 characters/],
  ];
  for (const [given, ok, reason] of rows) {
    const parsed = parseArguments(given);
    assert.equal(parsed.ok, ok, given.slice(0, 40));
    if (!parsed.ok) assert.match(parsed.problem, reason ?? /./);
  }
});

const names = ["read", "write", "edit", "sessions_list", "sessions_history", "session_status", "agents_list", "nope"];
const keys = [
  "path",
  "file_path",
  "content",
  "oldText",
  "newText",
  "offset",
  "limit",
  "sessionKey",
  "kinds",
  "model",
  "zzz",
];
// No text that could be a sensible path or content: then no call may change anything.
const junk = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 3 }),
  fc.constantFrom("", "\u0000", "../../../etc/passwd", "a\u0000b"),
  fc.object({ maxDepth: 1, maxKeys: 2 }),
);
const anyArguments = fc.oneof(
  fc.dictionary(fc.constantFrom(...keys), junk).map((value) => JSON.stringify(value)),
  fc.dictionary(fc.constantFrom(...keys), junk).map((value) => JSON.stringify(value).slice(0, -1)),
  fc.constantFrom("null", "[]", '"x"', '{"path":1e999}', '{"path":"a","path":"b"}', '{"__proto__":{"path":"x"}}'),
);

test("answers senseless arguments of every real tool without effects, and the session stays usable", async () => {
  let next: Say = text("ok");
  const models = scriptedBook((request) => (request.messages.at(-1)?.role === "user" ? next : text("I see")));
  const opened = await openTestAgents({ models });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...names), anyArguments), { minLength: 1, maxLength: 6 }),
      async (made) => {
        next = [
          ...made.map(
            ([name, args], index) => ({ type: "tool-call", id: `c${index}`, name, arguments: args }) as const,
          ),
          { type: "end", stop: "tool-calls", usage: usage() },
        ];
        const outcome = await opened.ask("go", {
          sessionKey: `agent:main:f${Math.floor(models.requests.length / 40)}` as never,
        });
        assert.deepEqual([outcome.status, outcome.text], ["ok", "I see"]);
        const results = (models.requests.at(-1)?.messages ?? []).slice(-made.length);
        assert.ok(results.every((message: Message) => message.role === "toolResult"));
      },
    ),
    { numRuns: Number(process.env["OPENCLAW_FUZZ_RUNS"] ?? 100) },
  );
  assert.deepEqual(readdirSync(opened.workspace), []);
  await opened.close();
});
