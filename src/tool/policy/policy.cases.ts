// Fixtures for the policy tests: a small universe of tools, a subject, and random policies over both.
import fc from "fast-check";

import { coreTools } from "./groups.ts";
import type { GroupContext, PluginTools, PolicyConfig, PolicyInput, ToolUniverse } from "./shape.ts";

/** How many random policies are tried in total; the properties share them. */
const totalRuns = Number(process.env["OPENCLAW_PROPERTY_RUNS"]) || 5000;
const properties = 8;

export function checkProperty<T extends unknown[]>(property: fc.IProperty<T>): void {
  fc.assert(property, { numRuns: Math.ceil(totalRuns / properties) });
}

/** Plugin `wf` of the tables: one required tool, one optional. */
export const wf: PluginTools = { id: "wf", tools: [{ name: "wf_run" }, { name: "wf_danger", optional: true }] };

export function universeOf(plugins: readonly PluginTools[] = [wf]): ToolUniverse {
  return { core: coreTools, plugins };
}

export function subjectOf(config: PolicyConfig, other: Partial<PolicyInput> = {}): PolicyInput {
  return { config, universe: universeOf(), agentId: "main", sandboxed: false, subagent: false, ...other };
}

const names = [...coreTools.keys()];
const pluginNames = ["wf_run", "wf_danger", "lob_start", "lob_stop", "lobster"];
const plugins: readonly PluginTools[] = [
  wf,
  { id: "lobster", tools: [{ name: "lobster" }, { name: "lob_start", optional: true }, { name: "lob_stop" }] },
  { id: "clash", tools: [{ name: "READ" }, { name: "Wf_Run" }] },
];

export const anyTool = fc.constantFrom(...names, ...pluginNames);

const tellingWords = [
  "group:fs group:runtime Group:Web group:openclaw group:moltbot group:plugins group:nope wf lobster".split(" "),
  "* s* web_* *_get lob_* *e* w*_*n *nope* bash apply-patch nope_tool \u0435\u0445\u0435\u0441".split(" "),
  [" EXEC ", ""],
].flat();

const anyEntry = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...names, ...pluginNames) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...tellingWords),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
);

const anyList = fc.array(anyEntry, { maxLength: 5 });
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 2 });
const anyProfile = fc.constantFrom("minimal" as const, "coding" as const, "messaging" as const, "full" as const);

/** As in a valid config: `allow` and `alsoAllow` exclude each other. */
const anyLists = fc
  .record({ allow: maybe(anyList), alsoAllow: maybe(anyList), deny: maybe(anyList) })
  .map(({ allow, alsoAllow, deny }) => ({
    ...(allow === undefined ? {} : { allow }),
    ...(allow !== undefined || alsoAllow === undefined ? {} : { alsoAllow }),
    ...(deny === undefined ? {} : { deny }),
  }));

const anyScope = fc
  .record({ lists: anyLists, profile: maybe(anyProfile) })
  .map(({ lists, profile }) => ({ ...lists, ...(profile === undefined ? {} : { profile }) }));

const anyKey = fc.constantFrom("openai", "OpenAI/gpt-5.2", "openai-codex", "google", "other/model");
const anyConfined = anyLists.map(({ allow, deny }) => ({
  tools: { ...(allow === undefined ? {} : { allow }), ...(deny === undefined ? {} : { deny }) },
}));

const anySection = fc
  .record({ scope: anyScope, byProvider: fc.dictionary(anyKey, anyScope, { maxKeys: 2 }), sandbox: maybe(anyConfined) })
  .map(({ scope, byProvider, sandbox }) => ({ ...scope, byProvider, ...(sandbox === undefined ? {} : { sandbox }) }));

const anyRoom = fc
  .record({ tools: maybe(anyLists), toolsBySender: fc.dictionary(fc.constantFrom("7", "*"), anyLists, { maxKeys: 2 }) })
  .map(({ tools, toolsBySender }) => ({ toolsBySender, ...(tools === undefined ? {} : { tools }) }));

export const anyConfig: fc.Arbitrary<PolicyConfig> = fc
  .record({
    tools: anySection,
    subagents: maybe(anyConfined),
    agent: maybe(anySection),
    groups: fc.dictionary(fc.constantFrom("-1", "*"), anyRoom, { maxKeys: 2 }),
  })
  .map(({ tools, subagents, agent, groups }) => ({
    tools: { ...tools, ...(subagents === undefined ? {} : { subagents }) },
    agents: { list: [{ id: "other" }, ...(agent === undefined ? [] : [{ id: "main", tools: agent }])] },
    channels: { telegram: { groups } },
  }));

const room: GroupContext = { channel: "telegram", groupId: "-1", senderIds: ["7"] };

/** A complete input: config, universe and subject. */
export const anyPolicy: fc.Arbitrary<PolicyInput> = fc.record({
  config: anyConfig,
  universe: fc.constant(universeOf(plugins)),
  agentId: fc.constant("main"),
  model: fc.constantFrom(undefined, "openai/gpt-5.2", "openai-codex/gpt-5.2", "google/gemini-3-pro"),
  group: fc.constantFrom(undefined, room),
  sandboxed: fc.boolean(),
  subagent: fc.boolean(),
});
