// The smallest edit, case by case: what to write so that the answer turns, and nothing else comes with it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { decide } from "./decide.ts";
import { sandboxDefaults } from "./groups.ts";
import { applyEdits } from "./path.ts";
import { subjectOf } from "./policy.cases.ts";
import type { Edit, PolicyConfig, PolicyInput } from "./shape.ts";

interface Case {
  readonly name: string;
  readonly config: PolicyConfig;
  readonly tool: string;
  readonly subject?: Partial<PolicyInput>;
  readonly edits: readonly Edit[];
  readonly summary: string;
  readonly command?: string;
}

const cases: readonly Case[] = [
  {
    name: "a tool denied by name",
    config: { tools: { deny: ["browser", " EXEC "] } },
    tool: "exec",
    edits: [{ op: "remove", path: "tools.deny", value: " EXEC " }],
    summary: 'To allow it, remove " EXEC " from tools.deny.',
    command: `openclaw config set tools.deny '["browser"]'`,
  },
  {
    name: "a group is spelled out, less the tool",
    config: { tools: { deny: ["group:runtime"] } },
    tool: "bash",
    edits: [
      { op: "remove", path: "tools.deny", value: "group:runtime" },
      { op: "add", path: "tools.deny", value: "process" },
    ],
    summary: 'To allow it, replace "group:runtime" by "process" in tools.deny.',
    command: `openclaw config set tools.deny '["process"]'`,
  },
  {
    name: "a wide wildcard goes whole, and the fix says what comes with it",
    config: { tools: { deny: ["*"] } },
    tool: "read",
    edits: [{ op: "remove", path: "tools.deny", value: "*" }],
    summary:
      'To allow it, remove "*" from tools.deny; this also lifts the deny of 24 more (write, edit, apply_patch …).',
    command: "openclaw config set tools.deny '[]'",
  },
  {
    name: "an allow list takes the tool up",
    config: { tools: { allow: ["read"] } },
    tool: "exec",
    edits: [{ op: "add", path: "tools.allow", value: "exec" }],
    summary: 'To allow it, add "exec" to tools.allow.',
    command: `openclaw config set tools.allow '["read","exec"]'`,
  },
  {
    name: "a profile takes it up through alsoAllow",
    config: { tools: { profile: "minimal" } },
    tool: "cron",
    edits: [{ op: "add", path: "tools.alsoAllow", value: "cron" }],
    summary: 'To allow it, add "cron" to tools.alsoAllow.',
    command: `openclaw config set tools.alsoAllow '["cron"]'`,
  },
  {
    name: "for a listed agent the edit stays with the agent",
    config: { tools: { profile: "minimal" }, agents: { list: [{ id: "main" }] } },
    tool: "cron",
    edits: [{ op: "add", path: "agents.list[0].tools.alsoAllow", value: "cron" }],
    summary: 'To allow it, add "cron" to agents.list[0].tools.alsoAllow.',
    command: `openclaw config set 'agents.list[0].tools.alsoAllow' '["cron"]'`,
  },
  {
    name: "allow and alsoAllow cannot stand together: a list of opt-ins moves over",
    config: { tools: { profile: "messaging", allow: ["slack"] } },
    tool: "exec",
    edits: [
      { op: "remove", path: "tools.allow" },
      { op: "set", path: "tools.alsoAllow", value: ["slack", "exec"] },
    ],
    summary: 'To allow it, drop tools.allow and set tools.alsoAllow to ["slack","exec"].',
    command: `openclaw config unset tools.allow && openclaw config set tools.alsoAllow '["slack","exec"]'`,
  },
  {
    name: "behind a list that restricts, the profile can go",
    config: { tools: { profile: "coding", allow: ["read"] } },
    tool: "browser",
    edits: [
      { op: "set", path: "tools.profile", value: "full" },
      { op: "add", path: "tools.allow", value: "browser" },
    ],
    summary: 'To allow it, set tools.profile to "full" and add "browser" to tools.allow.',
    command: `openclaw config set tools.profile full && openclaw config set tools.allow '["read","browser"]'`,
  },
  {
    name: "an optional tool is opted in",
    config: {},
    tool: "wf_danger",
    edits: [{ op: "add", path: "tools.alsoAllow", value: "wf_danger" }],
    summary: 'To allow it, add "wf_danger" to tools.alsoAllow.',
    command: `openclaw config set tools.alsoAllow '["wf_danger"]'`,
  },
  {
    name: "naming a plugin tool once passes opt-in, profiles and list",
    config: { tools: { profile: "coding", allow: ["read"], byProvider: { openai: { profile: "minimal" } } } },
    tool: "wf_danger",
    subject: { model: "openai/gpt-5.2" },
    edits: [{ op: "add", path: "tools.allow", value: "wf_danger" }],
    summary: 'To allow it, add "wf_danger" to tools.allow.',
    command: `openclaw config set tools.allow '["read","wf_danger"]'`,
  },
  {
    name: "a provider's profile and list",
    config: { tools: { byProvider: { "openai/gpt-5.2": { profile: "minimal", deny: ["web_*"] } } } },
    tool: "web_fetch",
    subject: { model: "openai/gpt-5.2" },
    edits: [
      { op: "add", path: 'tools.byProvider["openai/gpt-5.2"].alsoAllow', value: "web_fetch" },
      { op: "remove", path: 'tools.byProvider["openai/gpt-5.2"].deny', value: "web_*" },
      { op: "add", path: 'tools.byProvider["openai/gpt-5.2"].deny', value: "web_search" },
    ],
    summary:
      'To allow it, add "web_fetch" to tools.byProvider["openai/gpt-5.2"].alsoAllow and ' +
      'replace "web_*" by "web_search" in tools.byProvider["openai/gpt-5.2"].deny.',
    command:
      `openclaw config set 'tools.byProvider["openai/gpt-5.2"].alsoAllow' '["web_fetch"]' && ` +
      `openclaw config set 'tools.byProvider["openai/gpt-5.2"].deny' '["web_search"]'`,
  },
  {
    name: "built-in sandbox lists are written out",
    config: {},
    tool: "browser",
    subject: { sandboxed: true },
    edits: [
      { op: "set", path: "tools.sandbox.tools.deny", value: ["canvas", "nodes", "cron", "discord", "gateway"] },
      {
        op: "set",
        path: "tools.sandbox.tools.allow",
        value: [...sandboxDefaults.allow, "browser"],
      },
    ],
    summary:
      'To allow it, set tools.sandbox.tools.deny to ["canvas","nodes","cron","discord","gateway"] ' +
      "and set tools.sandbox.tools.allow to 12 entries.",
    command:
      `openclaw config set tools.sandbox.tools.deny '["canvas","nodes","cron","discord","gateway"]' && ` +
      `openclaw config set tools.sandbox.tools.allow '["exec","process","read","write","edit","apply_patch",` +
      `"sessions_list","sessions_history","sessions_send","sessions_spawn","session_status","browser"]'`,
  },
  {
    name: "a group's list",
    config: { channels: { telegram: { groups: { "-1.5": { tools: { deny: ["exec"], allow: ["read"] } } } } } },
    tool: "exec",
    subject: { group: { channel: "telegram", groupId: "-1.5", senderIds: [] } },
    edits: [
      { op: "remove", path: 'channels.telegram.groups["-1.5"].tools.deny', value: "exec" },
      { op: "add", path: 'channels.telegram.groups["-1.5"].tools.allow', value: "exec" },
    ],
    summary:
      'To allow it, remove "exec" from channels.telegram.groups["-1.5"].tools.deny and ' +
      'add "exec" to channels.telegram.groups["-1.5"].tools.allow.',
    command:
      `openclaw config set 'channels.telegram.groups["-1.5"].tools.deny' '[]' && ` +
      `openclaw config set 'channels.telegram.groups["-1.5"].tools.allow' '["read","exec"]'`,
  },
  {
    name: "an allowed tool is denied globally",
    config: { tools: { deny: ["it's"] } },
    tool: "exec",
    edits: [{ op: "add", path: "tools.deny", value: "exec" }],
    summary: 'To deny it, add "exec" to tools.deny.',
    command: String.raw`openclaw config set tools.deny '["it\u0027s","exec"]'`,
  },
  {
    name: "a listed agent's allowed tool is denied for the agent",
    config: { agents: { list: [{ id: "other" }, { id: "Main" }] } },
    tool: "exec",
    edits: [{ op: "add", path: "agents.list[1].tools.deny", value: "exec" }],
    summary: 'To deny it, add "exec" to agents.list[1].tools.deny.',
    command: `openclaw config set 'agents.list[1].tools.deny' '["exec"]'`,
  },
  {
    name: "what sub-agents never get, no edit gives",
    config: {},
    tool: "cron",
    subject: { subagent: true },
    edits: [],
    summary: "No edit gives it to a sub-agent; let the agent that started it make the call.",
  },
  {
    name: "a limit of the call is changed where it stands",
    config: {},
    tool: "cron",
    subject: { limit: { path: "toolsAllow of cron job nightly", allow: ["exec"] } },
    edits: [],
    summary: "The list toolsAllow of cron job nightly comes with the call; change it there.",
  },
];

for (const { name, config, tool, subject = {}, edits, summary, command } of cases) {
  void test(name, () => {
    const policy = subjectOf(config, subject);
    const { allowed, fix } = decide(policy, tool);
    const { edits: ours, summary: words, command: line } = fix ?? { edits: [], summary: "" };
    assert.deepEqual({ edits: ours, summary: words, command: line }, { edits, summary, command });
    if (edits.length === 0) return;
    assert.equal(decide({ ...policy, config: applyEdits(config, edits) }, tool).allowed, !allowed);
  });
}

void test("a tool named like its plugin cannot stay denied when a sibling is freed, and the fix says so", () => {
  const plugins = [{ id: "lobster", tools: [{ name: "lobster" }, { name: "lob_stop" }] }];
  const universe = { ...subjectOf({}).universe, plugins };
  const { fix } = decide(subjectOf({ tools: { deny: ["lobster"] } }, { universe }), "lob_stop");
  assert.deepEqual(fix?.edits, [{ op: "remove", path: "tools.deny", value: "lobster" }]);
  assert.equal(
    fix?.summary,
    'To allow it, remove "lobster" from tools.deny; this also lifts the deny of 1 more (lobster).',
  );
});
