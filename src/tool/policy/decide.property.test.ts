// Properties of every policy, checked on random ones; OPENCLAW_PROPERTY_RUNS sets how many.
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { allowedTools, decide, decideAll } from "./decide.ts";
import { explainText } from "./explain.ts";
import { applyEdits } from "./path.ts";
import { anyPolicy, anyTool, checkProperty, subjectOf } from "./policy.cases.ts";
import type { PolicyConfig, PolicyInput } from "./shape.ts";
import { listWarnings } from "./warnings.ts";

void test("deny wins in every list", () => {
  checkProperty(
    fc.property(anyPolicy, anyTool, fc.nat(9), (policy, tool, which) => {
      assert.equal(decide(withDeny(policy, tool, which), tool).allowed, false);
    }),
  );
});

void test("another deny entry never adds a tool", () => {
  checkProperty(
    fc.property(anyPolicy, anyTool, fc.nat(9), (policy, tool, which) => {
      assert.deepEqual(gained(policy, withDeny(policy, tool, which)), []);
    }),
  );
});

void test("removing a layer never removes a tool", () => {
  checkProperty(
    fc.property(anyPolicy, fc.nat(20), (policy, which) => {
      const lighter = lessOf(policy);
      assert.deepEqual(gained(lighter[which % lighter.length] ?? policy, policy), []);
    }),
  );
});

void test("allows a tool exactly when no layer blocks it, and the first block decides", () => {
  checkProperty(
    fc.property(anyPolicy, anyTool, (policy, asked) => {
      const allowed = new Set(allowedTools(policy));
      const records = decideAll(policy);
      for (const [tool, decision] of records) {
        const first = decision.layers.find(({ verdict }) => verdict === "block");
        assert.equal(decision.allowed, first === undefined);
        assert.equal(decision.allowed, allowed.has(tool));
        assert.equal(decision.decidedBy?.layer, first?.layer);
      }
      assert.deepEqual(records.get(asked), decide(policy, asked));
      assert.deepEqual(JSON.parse(JSON.stringify(records.get(asked))), records.get(asked));
    }),
  );
});

void test("the explanation agrees with the record and fits the width", () => {
  checkProperty(
    fc.property(anyPolicy, anyTool, (policy, tool) => {
      const decision = decide(policy, tool);
      const lines = explainText(decision, { subject: { agent: "main" } }).split("\n");
      const blocks = decision.layers.filter(({ verdict }) => verdict === "block").length;
      assert.equal(lines[0], `${decision.tool}: ${decision.allowed ? "allowed" : "blocked"}`);
      assert.equal(lines.filter((line) => /^ {2}[ 1-9] {2}.{18}BLOCK/.test(line)).length, blocks);
      assert.equal(lines.filter((line) => line.startsWith("  Decided by")).length, decision.allowed ? 0 : 1);
      assertPrintable(lines);
    }),
  );
});

const wild = ["*".repeat(500), "x*".repeat(300), "__proto__", "constructor"];
const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.constantFrom(...wild));
const hugeList = fc
  .tuple(fc.string({ unit: "binary", maxLength: 12 }), fc.nat(2000))
  .map(([text, count]) => Array.from({ length: count }, (_, at) => `${text}${at % 7}`));
const anyTexts = fc.oneof(
  { weight: 60, arbitrary: fc.array(anyText, { maxLength: 8 }) },
  { weight: 1, arbitrary: hugeList },
);

void test("never throws, for any list content, id or tool name", () => {
  checkProperty(
    fc.property(anyTexts, anyTexts, anyText, (allow, deny, word) => {
      const policy = everywhere({ allow, deny }, word);
      const allowed = new Set(allowedTools(policy));
      for (const name of [word, "exec"]) {
        const decision = decide(policy, name);
        assert.equal(decision.allowed, allowed.has(decision.tool));
        assertPrintable(explainText(decision).split("\n"));
      }
      assert.ok(listWarnings(policy.config, policy.universe).every(({ message }) => message.length < 500));
    }),
  );
});

function assertPrintable(lines: readonly string[]): void {
  assert.ok(lines.every((line) => line.length <= 110));
  assert.ok(lines.every((line) => /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u.test(line)));
}

function everywhere(lists: { allow: string[]; deny: string[] }, word: string): PolicyInput {
  const config: PolicyConfig = {
    tools: { ...lists, byProvider: { openai: lists }, sandbox: { tools: lists }, subagents: { tools: lists } },
    agents: { list: [{ id: "main", tools: lists }] },
    channels: { telegram: { groups: { "*": { tools: lists, toolsBySender: { [word]: lists } } } } },
  };
  const group = { channel: "telegram", groupId: word, senderIds: [word] };
  return subjectOf(config, { model: `openai/${word}`, group, sandboxed: true, subagent: true });
}

/** One more entry in one of the deny lists that apply to the subject. */
function withDeny(policy: PolicyInput, tool: string, which: number): PolicyInput {
  const lists = denyLists(policy);
  const path = lists[which % lists.length] ?? "tools.deny";
  return { ...policy, config: applyEdits(policy.config, [{ op: "add", path, value: tool }]) };
}

/** Adding to a sandbox list that is not set would replace the built-in one, so it is left out. */
function denyLists({ config, group, sandboxed, subagent, model }: PolicyInput): string[] {
  const agent = agentPath(config);
  const own = config.agents?.list?.[1]?.tools;
  const sandbox = own?.sandbox === undefined ? "tools" : agent;
  const sandboxDeny = (own?.sandbox ?? config.tools?.sandbox)?.tools?.deny;
  const rooms = config.channels as { telegram: { groups: Record<string, { toolsBySender: object } | undefined> } };
  const bySender = rooms.telegram.groups["-1"]?.toolsBySender ?? {};
  const key = "OpenAI/gpt-5.2";
  return [
    "tools.deny",
    ...(agent === undefined ? [] : [`${agent}.deny`]),
    ...(sandboxed && sandboxDeny !== undefined ? [`${sandbox ?? "tools"}.sandbox.tools.deny`] : []),
    ...(subagent ? ["tools.subagents.tools.deny"] : []),
    ...(group !== undefined && "7" in bySender ? ["channels.telegram.groups.-1.toolsBySender.7.deny"] : []),
    ...(model === "openai/gpt-5.2" && config.tools?.byProvider?.[key] !== undefined
      ? [`tools.byProvider["${key}"].deny`]
      : []),
  ];
}

function agentPath(config: PolicyConfig): string | undefined {
  return config.agents?.list?.[1] === undefined ? undefined : "agents.list[1].tools";
}

/** The same policy without one layer or one deny list; without a model no provider rule applies. */
function lessOf(policy: PolicyInput): PolicyInput[] {
  const agent = agentPath(policy.config);
  // Without its own profile, an agent gets the global one, which may be narrower.
  const profile = policy.config.agents?.list?.[1]?.tools?.profile === undefined ? ["tools.profile"] : [];
  const own = agent === undefined ? [] : [`${agent}.deny`];
  const keys = ["tools.deny", "tools.subagents", ...profile, ...own];
  return [
    { ...policy, group: undefined },
    { ...policy, model: undefined },
    { ...policy, sandboxed: false },
    { ...policy, subagent: false },
    ...keys.map((path) => ({ ...policy, config: applyEdits(policy.config, [{ op: "remove", path }]) })),
  ];
}

function gained(before: PolicyInput, after: PolicyInput): string[] {
  const had = new Set(allowedTools(before));
  return allowedTools(after).filter((name) => !had.has(name));
}
