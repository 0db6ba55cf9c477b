// Decides whether a tool may be used and why: a pure function of config, known tools and subject.
import { nearest } from "../../core/nearest.ts";
import { fixFor } from "./fix.ts";
import { canonicalName, toolAliases } from "./groups.ts";
import { namesFor, planPolicy, type ActiveLayer, type Layer, type PolicyPlan } from "./layers.ts";
import { matches, type Entry, type KnownTool, type Vocabulary } from "./match.ts";
import type { List } from "./scopes.ts";
import { layerNames, type Decision, type LayerVerdict, type PolicyInput, type Rule } from "./shape.ts";
import { quote, short } from "./safe-text.ts";

/** Never throws, for any list content. The same input gives the same record. */
export function decide(policy: PolicyInput, tool: string): Decision {
  const plan = planPolicy(policy);
  return judge(plan, tool, warningsOf(plan));
}

/** Every tool of the universe under its registered name, decided on one parse of the lists. */
export function decideAll(policy: PolicyInput): Map<string, Decision> {
  const plan = planPolicy(policy);
  const warnings = warningsOf(plan);
  return new Map(offered(plan).map(([, { name }]) => [name, judge(plan, name, warnings)]));
}

/** The names alone, without the records. */
export function allowedTools(policy: PolicyInput): string[] {
  const plan = planPolicy(policy);
  return offered(plan).flatMap(([canonical, tool]) =>
    verdictsOn(plan, canonical, tool).some(({ verdict }) => verdict === "block") ? [] : [tool.name],
  );
}

/** The tools to offer: plugin tools, and the core tools that are built. */
function offered({ vocabulary, input }: PolicyPlan): [canonical: string, tool: KnownTool][] {
  const { core } = input.universe;
  return [...vocabulary.tools].filter(([canonical, { name, plugin }]) => {
    return plugin !== undefined || core.has(canonical) || core.has(name);
  });
}

function judge(plan: PolicyPlan, asked: string, warnings: readonly string[]): Decision {
  const canonical = canonicalName(asked);
  const tool = plan.vocabulary.tools.get(canonical);
  if (tool === undefined) return unknownTool(plan.vocabulary, asked);
  const layers = verdictsOn(plan, canonical, tool);
  const blocks = layers.filter(({ verdict }) => verdict === "block");
  const [first] = blocks;
  return {
    tool: tool.name,
    allowed: first === undefined,
    layers,
    ...(first === undefined ? {} : { decidedBy: deciding(first) }),
    fix: fixFor(plan, canonical, tool, blocks),
    warnings,
  };
}

/** Both gates and every layer, in order. */
function verdictsOn(plan: PolicyPlan, canonical: string, tool: KnownTool): LayerVerdict[] {
  const names = namesFor(plan, canonical);
  const note =
    tool.plugin === undefined
      ? "a core tool"
      : `a tool of ${tool.mcp === true ? "MCP server" : "plugin"} ${short(tool.plugin)}`;
  return [
    { layer: "known", verdict: "pass", note },
    optionalGate(plan, canonical, tool),
    ...plan.layers.map((layer) => verdictOf(layer, canonical, names)),
  ];
}

/** An optional tool is denied until an allow list names it, its plugin or `group:plugins` (docs/decisions/0006-profile-and-allow.md). */
function optionalGate({ optIns }: PolicyPlan, canonical: string, { optional, plugin = "" }: KnownTool): LayerVerdict {
  if (!optional) return { layer: "optional", verdict: "not-applicable", note: "the tool is not optional" };
  const rule = ruleIn(optIns, (entry) => matches(entry, canonical));
  if (rule !== undefined) return { layer: "optional", verdict: "pass", rule, note: `${quote(rule.entry)} opts in` };
  const note = `it is an optional tool of plugin ${short(plugin)} and no allow list names it`;
  return { layer: "optional", verdict: "block", note };
}

function verdictOf(layer: Layer, tool: string, names: readonly string[]): LayerVerdict {
  if ("idle" in layer) return { layer: layer.name, verdict: layer.idle, note: layer.note };
  const { name, path } = layer;
  const denied = ruleIn(layer.deny, (entry) => matches(entry, tool));
  if (denied !== undefined) {
    return { layer: name, path, verdict: "block", rule: denied, note: `${quote(denied.entry)} denies it` };
  }
  if (layer.allow === undefined) return openVerdict(layer);
  const allowed = ruleIn(layer.allow, (entry) => names.some((each) => matches(entry, each)));
  if (allowed === undefined) return { layer: name, path: narrowPath(layer), verdict: "block", note: missing(layer) };
  const whose = layer.profile !== undefined && allowed.path === "built-in" ? ` of profile ${layer.profile}` : "";
  return { layer: name, path, verdict: "pass", rule: allowed, note: `${quote(allowed.entry)}${whose} allows it` };
}

function ruleIn(lists: readonly List[], fits: (entry: Entry) => boolean): Rule | undefined {
  for (const { path, entries } of lists) {
    const found = entries.find(fits);
    if (found === undefined) continue;
    return { path: path === undefined ? "built-in" : `${path}[${found.index}]`, entry: found.text };
  }
  return undefined;
}

function openVerdict({ name, path, ignored, profile, deny }: ActiveLayer): LayerVerdict {
  if (ignored !== undefined) return { layer: name, path: ignored.path, verdict: "ignored", note: ignored.why };
  const pass = { layer: name, path, verdict: "pass" } as const;
  if (profile !== undefined) return { ...pass, note: `profile ${profile} restricts nothing` };
  const empty = deny.every(({ entries }) => entries.length === 0);
  if (empty) return { layer: name, path, verdict: "not-set", note: "its lists are empty" };
  return { ...pass, note: "no entry of its deny list matches" };
}

/** The list that omits the tool, not the object around it. */
function narrowPath({ path, profile, allow }: ActiveLayer): string {
  return profile === undefined ? (allow?.[0]?.path ?? `${path}.allow`) : path;
}

function missing({ name, profile, allow }: ActiveLayer): string {
  if (profile !== undefined) return `profile ${profile} does not include it`;
  if (allow?.[0]?.path === undefined) return `the built-in ${name} allow list does not include it`;
  return "the allow list does not name it";
}

function deciding({ layer, path = "", rule, note = "" }: LayerVerdict): NonNullable<Decision["decidedBy"]> {
  if (rule === undefined) return { layer, path, reason: path === "" ? note : `${note} (${short(path, 90)})` };
  return { layer, path: rule.path, entry: rule.entry, reason: `${note} (${short(rule.path, 90)})` };
}

function unknownTool({ tools }: Vocabulary, asked: string): Decision {
  const name = asked.slice(0, 64).toWellFormed();
  const near = nearest(name, [...tools.keys(), ...toolAliases.keys()]);
  const suggestion = near === undefined ? "" : `; the nearest name is ${near}`;
  const reason = `there is no tool named ${quote(name)}${suggestion}`;
  const summary = near === undefined ? "List the tools with: openclaw tools list" : `Use the name ${near}.`;
  return {
    tool: name,
    allowed: false,
    layers: [
      { layer: "known", verdict: "block", note: reason },
      ...layerNames
        .slice(1, -1)
        .map((layer): LayerVerdict => ({ layer, verdict: "not-applicable", note: "no such tool" })),
    ],
    decidedBy: { layer: "known", path: "", reason },
    fix: { summary, edits: [], after: [] },
    warnings: [],
  };
}

/** Only the warnings that affect this answer; `listWarnings` returns all of them, with the nearest names. */
function warningsOf({ layers }: PolicyPlan): string[] {
  return layers.flatMap((layer) => {
    if ("idle" in layer || layer.ignored === undefined || layer.ignored.unknown.length === 0) return [];
    const { path, unknown } = layer.ignored;
    return [`${short(path, 90)} is ignored: no known tool among ${unknown.map((text) => quote(text)).join(", ")}`];
  });
}
