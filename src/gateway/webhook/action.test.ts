// Any request becomes an action within the rules or a typed error, and never reaches a foreign session or agent.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import type { Config } from "../../config/schema/index.ts";
import { OpenClawError } from "../../core/error.ts";
import { settleAction, type Author, type HookAction } from "./action.ts";

const config = {
  agents: {
    defaults: { models: { "fake/one": {} }, model: { primary: "fake/one" } },
    list: [{ id: "main" }, { id: "other" }],
  },
  hooks: { allowRequestSessionKey: true },
} as Config;

function settle(fields: Record<string, unknown>, author: Author = "sender"): HookAction | OpenClawError {
  try {
    return settleAction({ kind: "agent", author, name: "Test", isTrusted: false, fields }, config, ["telegram"]);
  } catch (error) {
    if (error instanceof OpenClawError) return error;
    throw error;
  }
}

function refusal(fields: Record<string, unknown>, author: Author): string {
  const settled = settle(fields, author);
  return settled instanceof OpenClawError ? settled.message : "";
}

test("turns the fields of a request into an action", () => {
  const fields = {
    message: " do it ",
    name: "Mail",
    sessionKey: "hook:Mail:1",
    wakeMode: "next-heartbeat",
    deliver: false,
    channel: "telegram",
    to: "42",
    model: "fake/one",
    thinking: "low",
    timeoutSeconds: 1.5,
  };
  assert.deepEqual(settle(fields), {
    name: "Mail",
    agentId: "main",
    wakeMode: "next-heartbeat",
    isTrusted: false,
    kind: "agent",
    message: "do it",
    deliver: false,
    channel: "telegram",
    to: "42",
    sessionKey: "agent:main:hook:mail:1",
    model: { provider: "fake", id: "one" },
    thinking: "low",
    timeoutMs: 1500,
  });
});

test("rejects a model outside the list for every author; a rule may name any agent and its sessions", () => {
  for (const author of ["sender", "rule", "script"] as const)
    assert.match(refusal({ message: "m", model: "fake/two" }, author), /not allowed/);
  const ruled = settle({ message: "m", agentId: "other", sessionKey: "main" }, "rule") as { sessionKey: string };
  assert.equal(ruled.sessionKey, "agent:other:main");
  assert.match(refusal({ message: "m", sessionKey: "agent:other:main" }, "rule"), /another agent/);
});

test("turns any fields into an action of the default agent below hook:, or a typed error", () => {
  const word = fc.constantFrom(
    "main",
    "agent:main:main",
    "hook:x",
    "agent:other:hook:x",
    "global",
    "HOOK:Y",
    "hook:../x",
    " ",
    "other",
  );
  const value = fc.oneof(word, fc.jsonValue({ maxDepth: 2 }), fc.string());
  const names = [
    "message",
    "text",
    "name",
    "agentId",
    "sessionKey",
    "wakeMode",
    "mode",
    "deliver",
    "channel",
    "to",
    "model",
    "thinking",
    "timeoutSeconds",
    "extra",
  ];
  const pairs = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 3 });
  const fields = pairs.map((some) => ({ message: "m", ...Object.fromEntries(some) }));
  let actions = 0;
  fc.assert(
    fc.property(fields, fc.constantFrom<Author>("sender", "script"), (given, author) => {
      const settled = settle(given, author);
      if (settled instanceof OpenClawError) return assert.match(settled.code, /^hook\.bad-(?:request|rule)$/);
      actions += 1;
      assert.equal(settled.agentId, "main");
      if (settled.kind === "agent") assert.match(settled.sessionKey ?? "agent:main:hook:", /^agent:main:hook:/);
    }),
    { numRuns: 5000 },
  );
  assert.ok(actions > 100, `${actions} actions`);
});
