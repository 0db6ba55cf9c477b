// The complete decision record, as a caller, a log and the page receive it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { decide, decideAll } from "./decide.ts";
import { coreTools } from "./groups.ts";
import { subjectOf, universeOf } from "./policy.cases.ts";

const open = { layer: "optional", verdict: "not-applicable", note: "the tool is not optional" } as const;
const core = { layer: "known", verdict: "pass", note: "a core tool" } as const;

void test("records every layer of a blocked tool, the first block and the fix", () => {
  const config = {
    tools: { profile: "coding", deny: ["group:runtime"], byProvider: { OpenAI: { allow: ["exec"] } } },
    agents: { list: [{ id: "main" }, { id: "support", tools: { profile: "messaging", allow: ["slack"] } }] },
  } as const;
  const group = { channel: "telegram", groupId: "-1", senderIds: [] };
  assert.deepEqual(decide(subjectOf(config, { agentId: "support", model: "openai/gpt-5.2", group }), "BASH"), {
    tool: "exec",
    allowed: false,
    layers: [
      core,
      open,
      {
        layer: "profile",
        path: "agents.list[1].tools.profile",
        verdict: "block",
        note: "profile messaging does not include it",
      },
      { layer: "provider-profile", verdict: "not-set", note: "no profile is set for openai/gpt-5.2" },
      {
        layer: "global",
        path: "tools",
        verdict: "block",
        rule: { path: "tools.deny[0]", entry: "group:runtime" },
        note: '"group:runtime" denies it',
      },
      {
        layer: "global-provider",
        path: "tools.byProvider.OpenAI",
        verdict: "pass",
        rule: { path: "tools.byProvider.OpenAI.allow[0]", entry: "exec" },
        note: '"exec" allows it',
      },
      { layer: "agent", path: "agents.list[1].tools.allow", verdict: "ignored", note: "it names no known tool" },
      { layer: "agent-provider", verdict: "not-set", note: "the agent has no lists for openai/gpt-5.2" },
      { layer: "group", verdict: "not-set", note: "no entry for telegram group -1" },
      {
        layer: "sandbox",
        verdict: "not-applicable",
        note: "the session is not sandboxed: its tools act on this machine",
      },
      { layer: "subagent", verdict: "not-applicable", note: "the session is not a subagent's" },
    ],
    decidedBy: {
      layer: "profile",
      path: "agents.list[1].tools.profile",
      reason: "profile messaging does not include it (agents.list[1].tools.profile)",
    },
    fix: {
      summary:
        'To allow it, drop agents.list[1].tools.allow, set agents.list[1].tools.alsoAllow to ["slack","exec"] ' +
        'and replace "group:runtime" by "process" in tools.deny.',
      edits: [
        { op: "remove", path: "agents.list[1].tools.allow" },
        { op: "set", path: "agents.list[1].tools.alsoAllow", value: ["slack", "exec"] },
        { op: "remove", path: "tools.deny", value: "group:runtime" },
        { op: "add", path: "tools.deny", value: "process" },
      ],
      after: [
        { path: "agents.list[1].tools.allow" },
        { path: "agents.list[1].tools.alsoAllow", value: ["slack", "exec"] },
        { path: "tools.deny", value: ["process"] },
      ],
      command:
        "openclaw config unset 'agents.list[1].tools.allow' && " +
        `openclaw config set 'agents.list[1].tools.alsoAllow' '["slack","exec"]' && ` +
        `openclaw config set tools.deny '["process"]'`,
    },
    warnings: ['agents.list[1].tools.allow is ignored: no known tool among "slack"'],
  });
});

void test("names the rule behind every pass of a plugin tool in a sandboxed subagent", () => {
  const config = {
    tools: {
      profile: "minimal",
      alsoAllow: ["wf"],
      byProvider: { "openai/gpt-5.2": { profile: "full", allow: ["wf_*"] } },
      sandbox: { tools: { allow: ["*"], deny: [] } },
      subagents: { tools: { deny: ["exec"] } },
    },
  } as const;
  const subject = { sandboxed: true, subagent: true, model: "openai/gpt-5.2" };
  const { layers, allowed, decidedBy } = decide(subjectOf(config, subject), "wf_danger");
  const passes = layers.map(({ layer, verdict, rule }) => [layer, verdict, rule?.path]);
  assert.deepEqual(
    { allowed, decidedBy, passes },
    {
      allowed: true,
      decidedBy: undefined,
      passes: [
        ["known", "pass", undefined],
        ["optional", "pass", "tools.alsoAllow[0]"],
        ["profile", "pass", "tools.alsoAllow[0]"],
        ["provider-profile", "pass", undefined],
        ["global", "not-set", undefined],
        ["global-provider", "ignored", undefined],
        ["agent", "not-set", undefined],
        ["agent-provider", "not-set", undefined],
        ["group", "not-applicable", undefined],
        ["sandbox", "pass", "tools.sandbox.tools.allow[0]"],
        ["subagent", "pass", undefined],
      ],
    },
  );
});

void test("denies an unknown tool and suggests the nearest name", () => {
  const { tool, allowed, layers, decidedBy, fix, warnings } = decide(
    subjectOf({ tools: { allow: ["*"] } }),
    "web_fecth",
  );
  const reason = 'there is no tool named "web_fecth"; the nearest name is web_fetch';
  assert.deepEqual(
    { tool, allowed, first: layers[0], verdicts: new Set(layers.slice(1).map(({ verdict }) => verdict)) },
    {
      tool: "web_fecth",
      allowed: false,
      first: { layer: "known", verdict: "block", note: reason },
      verdicts: new Set(["not-applicable"]),
    },
  );
  assert.deepEqual(
    { decidedBy, fix, warnings },
    {
      decidedBy: { layer: "known", path: "", reason },
      fix: { summary: "Use the name web_fetch.", edits: [], after: [] },
      warnings: [],
    },
  );
});

void test("treats look-alike names as unknown (attack POL-012)", () => {
  for (const name of [
    "ехес",
    "e\u0000xec",
    "exec\u200b",
    "ｅｘｅｃ",
    "__proto__",
    "constructor",
    "*",
    "group:fs",
    "wf",
    "",
  ]) {
    const { allowed, layers } = decide(subjectOf({ tools: { allow: ["*"] } }), name);
    assert.deepEqual([allowed, layers[0]?.layer, layers[0]?.verdict], [false, "known", "block"], name);
  }
});

void test("decides on a core tool that is not built, but does not list it", () => {
  const universe = { core: new Set(["read", "tts"]), plugins: [] };
  const policy = subjectOf({ tools: { deny: ["browser"] } }, { universe });
  assert.equal(decide(policy, "exec").allowed, true);
  assert.equal(decide(policy, "browser").allowed, false);
  assert.deepEqual([...decideAll(policy).keys()], ["read", "tts"]);
  assert.deepEqual([...decideAll(subjectOf({}, { universe: universeOf([]) })).keys()], [...coreTools.keys()]);
});

void test("finds the entry of an agent in any case of its id, and not that of another agent", () => {
  const config = { agents: { list: [{ id: "Support", tools: { deny: ["exec"] } }] } };
  assert.equal(decide(subjectOf(config, { agentId: "support" }), "exec").allowed, false);
  assert.equal(decide(subjectOf(config, { agentId: "main" }), "exec").allowed, true);
});
