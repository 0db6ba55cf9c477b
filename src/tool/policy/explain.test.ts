// The exact text of an explanation, which people and models read.
import assert from "node:assert/strict";
import { test } from "node:test";

import { decide } from "./decide.ts";
import { explainText } from "./explain.ts";
import { subjectOf } from "./policy.cases.ts";
import type { PolicyConfig } from "./shape.ts";

const config: PolicyConfig = {
  tools: { profile: "coding", deny: ["gateway", "group:runtime"] },
  agents: { list: [{ id: "main" }, { id: "support", tools: { allow: ["read", "exec"] } }] },
};

const locate = (path: string) => (path === "tools.deny[1]" ? { file: "openclaw.json", line: 12 } : undefined);

void test("explains a denied tool", () => {
  const decision = decide(subjectOf(config, { agentId: "support", model: "openai/gpt-5.2" }), "exec");
  const words = explainText(decision, { locate, subject: { agent: "support", model: "openai/gpt-5.2" } });
  assert.equal(
    words,
    `exec: blocked
  for agent support, model openai/gpt-5.2
  Decided by global lists: "group:runtime" denies it (tools.deny[1]), openclaw.json:12

Layers, in order:
     known             pass            a core tool
     opt-in            not applicable  the tool is not optional
  1  profile           pass            "group:runtime" of profile coding allows it [built-in]
  2  provider profile  not set         no profile is set for openai/gpt-5.2
  3  global lists      BLOCK           "group:runtime" denies it [tools.deny[1], openclaw.json:12]
  4  provider lists    not set         tools.byProvider has no lists for openai/gpt-5.2
  5  agent lists       pass            "exec" allows it [agents.list[1].tools.allow[1]]
  6  agent provider    not set         the agent has no lists for openai/gpt-5.2
  7  group             not applicable  the session is not in a group
  8  sandbox           not applicable  the session is not sandboxed: its tools act on this machine
  9  subagent          not applicable  the session is not a subagent's

Smallest edit: To allow it, replace "group:runtime" by "process" in tools.deny.
  in the config:
    tools: { deny: ["gateway","process"] }
  or run:
    openclaw config set tools.deny '["gateway","process"]'`,
  );
});

void test("explains an allowed tool that is not available", () => {
  const unavailable = { reason: "no image model is set", fix: "openclaw models set-image" };
  const words = explainText(decide(subjectOf({ tools: { deny: ["nope"] } }), "image"), { unavailable });
  assert.equal(
    words,
    `image: allowed by policy, but not available
  Not available: no image model is set (fix: openclaw models set-image)
  Every layer allows it.

Layers, in order:
     known             pass            a core tool
     opt-in            not applicable  the tool is not optional
  1  profile           not set         no profile is set
  2  provider profile  not applicable  the call uses no model
  3  global lists      pass            no entry of its deny list matches [tools]
  4  provider lists    not applicable  the call uses no model
  5  agent lists       not set         the agent has no own lists
  6  agent provider    not applicable  the call uses no model
  7  group             not applicable  the session is not in a group
  8  sandbox           not applicable  the session is not sandboxed: its tools act on this machine
  9  subagent          not applicable  the session is not a subagent's`,
  );
});

void test("shows edits in several places, a long list and a warning", () => {
  const mixed: PolicyConfig = {
    tools: { allow: ["web_fecth"], sandbox: { tools: {} } },
    agents: {
      list: [{ id: "main", tools: { deny: ["message"], byProvider: { "openai/gpt-5.2": { allow: ["read"] } } } }],
    },
  };
  const decision = decide(subjectOf(mixed, { sandboxed: true, model: "openai/gpt-5.2" }), "message");
  const words = explainText(decision).split("\n");
  assert.deepEqual(words.slice(words.indexOf("  in the config:") - 2), [
    'Smallest edit: To allow it, remove "message" from agents.list[0].tools.deny, add "message" to',
    '  agents.list[0].tools.byProvider["openai/gpt-5.2"].allow and set tools.sandbox.tools.allow to 12 entries.',
    "  in the config:",
    "    // in agents.list[0]",
    "    tools: { deny: [] }",
    '    tools: { byProvider: { "openai/gpt-5.2": { allow: ["read","message"] } } }',
    "    // in the config",
    "    tools: { sandbox: { tools: { allow: [",
    '      "exec","process","read","write","edit","apply_patch","sessions_list","sessions_history","sessions_send",',
    '      "sessions_spawn","session_status","message"',
    "    ] } } }",
    "  or run:",
    "    openclaw config set 'agents.list[0].tools.deny' '[]'",
    `    openclaw config set 'agents.list[0].tools.byProvider["openai/gpt-5.2"].allow' '["read","message"]'`,
    "    openclaw config set tools.sandbox.tools.allow '[",
    '      "exec","process","read","write","edit","apply_patch","sessions_list","sessions_history","sessions_send",',
    '      "sessions_spawn","session_status","message"',
    "    ]'",
    "",
    'Warning: tools.allow is ignored: no known tool among "web_fecth"',
  ]);
});

void test("explains an unknown name, and a denial that no edit can change", () => {
  const unknown = explainText(decide(subjectOf({}), "exce\u001b[31m")).split("\n");
  assert.equal(unknown[0], String.raw`exce\u001b[31m: blocked`);
  assert.equal(unknown[1], String.raw`  Decided by known: there is no tool named "exce\u001b[31m"`);
  assert.equal(unknown.at(-1), "List the tools with: openclaw tools list");
  const near = explainText(decide(subjectOf({}), "exce")).split("\n");
  assert.equal(near.at(-1), "Use the name exec.");
  const never = explainText(decide(subjectOf({}, { subagent: true }), "cron")).split("\n");
  assert.equal(never.at(-1), "Subagents never get this tool; let the agent that started the subagent make the call.");
});

void test("refers to --json for entries that are too long", () => {
  const decision = decide(subjectOf({ tools: { deny: ["exec", "x".repeat(200)] } }), "exec");
  const words = explainText(decision).split("\n");
  assert.equal(words.at(-1), "  (its entries are too long to show; use --json)");
  assert.equal(decision.fix?.command, `openclaw config set tools.deny '["${"x".repeat(200)}"]'`);
});

void test("keeps the end of a long path: the file and the line", () => {
  const file = `/home/${"username/".repeat(12)}.openclaw/openclaw.json`;
  const decision = decide(subjectOf(config), "exec");
  const words = explainText(decision, { locate: () => ({ file, line: 12 }), subject: { agent: "support" } });
  assert.match(words, /…\S+\/\.openclaw\/openclaw\.json:12/);
});
