// The smallest edit, case by case: what to write to reverse the decision without other effects.
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
    name: "replaces a group by its other tools",
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
    name: "removes a wide wildcard and names what else it denied",
    config: { tools: { deny: ["*"] } },
    tool: "read",
    edits: [{ op: "remove", path: "tools.deny", value: "*" }],
    summary:
      'To allow it, remove "*" from tools.deny; this also lifts the deny of 24 more (write, edit, apply_patch …).',
    command: "openclaw config set tools.deny '[]'",
  },
  {
    name: "adds the tool to an allow list",
    config: { tools: { allow: ["read"] } },
    tool: "exec",
    edits: [{ op: "add", path: "tools.allow", value: "exec" }],
    summary: 'To allow it, add "exec" to tools.allow.',
    command: `openclaw config set tools.allow '["read","exec"]'`,
  },
  {
    name: "adds the tool to a profile with alsoAllow",
    config: { tools: { profile: "minimal" } },
    tool: "cron",
    edits: [{ op: "add", path: "tools.alsoAllow", value: "cron" }],
    summary: 'To allow it, add "cron" to tools.alsoAllow.',
    command: `openclaw config set tools.alsoAllow '["cron"]'`,
  },
  {
    name: "edits the entry of a listed agent",
    config: { tools: { profile: "minimal" }, agents: { list: [{ id: "main" }] } },
    tool: "cron",
    edits: [{ op: "add", path: "agents.list[0].tools.alsoAllow", value: "cron" }],
    summary: 'To allow it, add "cron" to agents.list[0].tools.alsoAllow.',
    command: `openclaw config set 'agents.list[0].tools.alsoAllow' '["cron"]'`,
  },
  {
    name: "moves an allow list of opt-ins to alsoAllow, because both together are invalid",
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
    name: "sets the profile to full behind a list that restricts",
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
    name: "opts in to an optional tool",
    config: {},
    tool: "wf_danger",
    edits: [{ op: "add", path: "tools.alsoAllow", value: "wf_danger" }],
    summary: 'To allow it, add "wf_danger" to tools.alsoAllow.',
    command: `openclaw config set tools.alsoAllow '["wf_danger"]'`,
  },
  {
    name: "passes opt-in, profiles and list with one entry for a plugin tool",
    config: { tools: { profile: "coding", allow: ["read"], byProvider: { openai: { profile: "minimal" } } } },
    tool: "wf_danger",
    subject: { model: "openai/gpt-5.2" },
    edits: [{ op: "add", path: "tools.allow", value: "wf_danger" }],
    summary: 'To allow it, add "wf_danger" to tools.allow.',
    command: `openclaw config set tools.allow '["read","wf_danger"]'`,
  },
  {
    name: "edits a provider's profile and list",
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
    name: "writes out the built-in sandbox lists",
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
    name: "edits the list of a group",
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
    name: "denies an allowed tool globally",
    config: { tools: { deny: ["it's"] } },
    tool: "exec",
    edits: [{ op: "add", path: "tools.deny", value: "exec" }],
    summary: 'To deny it, add "exec" to tools.deny.',
    command: String.raw`openclaw config set tools.deny '["it\u0027s","exec"]'`,
  },
  {
    name: "denies an allowed tool for a listed agent",
    config: { agents: { list: [{ id: "other" }, { id: "Main" }] } },
    tool: "exec",
    edits: [{ op: "add", path: "agents.list[1].tools.deny", value: "exec" }],
    summary: 'To deny it, add "exec" to agents.list[1].tools.deny.',
    command: `openclaw config set 'agents.list[1].tools.deny' '["exec"]'`,
  },
  {
    name: "offers no edit for a tool that subagents never get",
    config: {},
    tool: "cron",
    subject: { subagent: true },
    edits: [],
    summary: "Subagents never get this tool; let the agent that started the subagent make the call.",
  },
  {
    name: "refers to the list that came with the call",
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

void test("says that a tool named like its plugin cannot stay denied when another tool of the plugin is allowed", () => {
  const plugins = [{ id: "lobster", tools: [{ name: "lobster" }, { name: "lob_stop" }] }];
  const universe = { ...subjectOf({}).universe, plugins };
  const { fix } = decide(subjectOf({ tools: { deny: ["lobster"] } }, { universe }), "lob_stop");
  assert.deepEqual(fix?.edits, [{ op: "remove", path: "tools.deny", value: "lobster" }]);
  assert.equal(
    fix?.summary,
    'To allow it, remove "lobster" from tools.deny; this also lifts the deny of 1 more (lobster).',
  );
});
