// Finds the smallest config edit that reverses a decision and, where possible, affects only that tool.
import { commandOf } from "./edit-text.ts";
import { sandboxDefaults } from "./groups.ts";
import { namesFor, type ActiveLayer, type PolicyPlan } from "./layers.ts";
import { matches, membersOf, type KnownTool, type Vocabulary } from "./match.ts";
import { edited } from "./path.ts";
import type { List, Scope } from "./scopes.ts";
import type { Edit, Fix, LayerName, LayerVerdict } from "./shape.ts";
import { jsonText, quote, short, visible } from "./safe-text.ts";

/** A group or wildcard in a deny list is replaced by its other tools up to this many names; a wider one is removed. */
const MAX_SPELLED_OUT = 6;

interface Opening {
  readonly edits: readonly Edit[];
  /** Other tools that the edits stop denying. */
  readonly freed: readonly string[];
}

/** `tool` is the canonical name; `blocks` are the verdicts that block it, empty if it is allowed. */
export function fixFor(plan: PolicyPlan, tool: string, known: KnownTool, blocks: readonly LayerVerdict[]): Fix {
  const scope = plan.scopes.agent ?? plan.scopes.global;
  if (blocks.length === 0) return toFix(plan, "deny", { edits: [add(`${scope.path}.deny`, known.name)], freed: [] });
  const barrier = blocks.find(
    ({ layer, rule }) => layer === "limit" || (layer === "subagent" && rule?.path === "built-in"),
  );
  if (barrier !== undefined) return { summary: noWayAround(barrier), edits: [], after: [] };
  const blocked = new Set(blocks.map(({ layer }) => layer));
  const lists = plan.layers.flatMap((layer) =>
    "idle" in layer || !blocked.has(layer.name) ? [] : [openLayer(layer, tool, known, plan)],
  );
  const listEdits = lists.flatMap((opening) => opening.edits);
  const edits = [...openProfiles(plan, known, blocked, listEdits), ...listEdits];
  return toFix(plan, "allow", { edits, freed: lists.flatMap((opening) => opening.freed) });
}

function noWayAround({ layer, path = "" }: LayerVerdict): string {
  if (layer === "subagent")
    return "Subagents never get this tool; let the agent that started the subagent make the call.";
  return `The list ${short(path, 60)} comes with the call; change it there.`;
}

/**
 * The opt-in of an optional tool and both profiles. One edit of the base scope covers all three, and also a plugin tool
 * that the lists must name anyway (R1).
 */
function openProfiles(
  plan: PolicyPlan,
  known: KnownTool,
  blocked: ReadonlySet<LayerName>,
  lists: readonly Edit[],
): Edit[] {
  const { global, agent, globalProvider, agentProvider } = plan.scopes;
  const namedIn = (...scopes: (Scope | undefined)[]): boolean =>
    known.plugin !== undefined && lists.some(({ path }) => scopes.some((scope) => scope?.allow.path === path));
  if (namedIn(global, agent)) return [];
  const base = blocked.has("optional") || blocked.has("profile") ? widen(agent ?? global, known) : [];
  const covered = base.length > 0 && !base.some(({ path }) => path.endsWith(".profile"));
  const open = covered || !blocked.has("provider-profile") || namedIn(globalProvider, agentProvider);
  return open || plan.providerScope === undefined ? base : [...base, ...widen(plan.providerScope, known)];
}

/**
 * Lets a tool past the profile of a scope. `allow` and `alsoAllow` exclude each other, so where `allow` is set: a plugin
 * tool is added to it (R1), a list that only opts in becomes `alsoAllow`, and behind a list that restricts the profile
 * is set to full, because the list still denies everything else.
 */
function widen({ path, written, restricts }: Scope, { name, plugin }: KnownTool): Edit[] {
  if (written.allow === undefined) return [add(`${path}.alsoAllow`, name)];
  if (plugin !== undefined) return [add(`${path}.allow`, name)];
  if (restricts) return [{ op: "set", path: `${path}.profile`, value: "full" }];
  const value = [...written.allow, ...(written.alsoAllow ?? []), name];
  return [
    { op: "remove", path: `${path}.allow` },
    { op: "set", path: `${path}.alsoAllow`, value },
  ];
}

function openLayer(layer: ActiveLayer, tool: string, known: KnownTool, plan: PolicyPlan): Opening {
  if (layer.profile !== undefined) return { edits: [], freed: [] };
  const denied = layer.deny.map((list) => undeny(list, layer, tool, plan.vocabulary));
  return {
    edits: [...denied.flatMap(({ edits }) => edits), ...admit(layer, namesFor(plan, tool), known)],
    freed: denied.flatMap(({ freed }) => freed),
  };
}

function undeny({ path, entries }: List, layer: ActiveLayer, tool: string, vocabulary: Vocabulary): Opening {
  const matching = entries.filter((entry) => matches(entry, tool));
  if (matching.length === 0) return { edits: [], freed: [] };
  if (path === undefined) {
    const value = sandboxDefaults.deny.filter((name) => name !== tool);
    return { edits: [{ op: "set", path: `${layer.path}.deny`, value }], freed: [] };
  }
  const kept = entries.filter((entry) => !matching.includes(entry));
  const others = [...new Set(matching.flatMap((entry) => membersOf(entry, vocabulary)))].filter(
    (name) => name !== tool && !kept.some((entry) => matches(entry, name)),
  );
  // A tool named like its plugin cannot be denied alone: its name means the whole plugin.
  const spelled =
    others.length > MAX_SPELLED_OUT ? [] : others.filter((name) => !matches(vocabulary.entry(name, 0), tool));
  return {
    edits: [
      ...[...new Set(matching.map(({ text }) => text))].map((value): Edit => ({ op: "remove", path, value })),
      ...spelled.map((name) => add(path, name)),
    ],
    freed: others.filter((name) => !spelled.includes(name)),
  };
}

function admit({ allow, path }: ActiveLayer, names: readonly string[], { name }: KnownTool): Edit[] {
  const entries = allow?.flatMap((list) => list.entries);
  if (entries === undefined || entries.some((entry) => names.some((each) => matches(entry, each)))) return [];
  if (allow?.[0]?.path !== undefined) return [add(`${path}.allow`, name)];
  return [{ op: "set", path: `${path}.allow`, value: [...sandboxDefaults.allow, name] }];
}

function add(path: string, value: string): Edit {
  return { op: "add", path, value };
}

function toFix(plan: PolicyPlan, aim: "allow" | "deny", { edits, freed }: Opening): Fix {
  const after = [...Map.groupBy(edits, ({ path }) => path)].map(([path, steps]) => {
    const value = steps.reduce(edited, writtenAt(plan, path)) as string | readonly string[] | undefined;
    return value === undefined ? { path } : { path, value };
  });
  return { summary: summaryOf(aim, edits, freed), edits, after, command: commandOf(after) };
}

const listsOfPlan = new WeakMap<PolicyPlan, ReadonlyMap<string, readonly string[]>>();

/** The list as written, among those already parsed; gathered once for all tools of a plan. */
function writtenAt(plan: PolicyPlan, path: string): readonly string[] | undefined {
  const known = listsOfPlan.get(plan) ?? gatherLists(plan);
  listsOfPlan.set(plan, known);
  return known.get(path);
}

function gatherLists({ scopes, layers }: PolicyPlan): ReadonlyMap<string, readonly string[]> {
  const { global, agent, globalProvider, agentProvider } = scopes;
  const inScopes = [global, agent, globalProvider, agentProvider].flatMap((scope) =>
    scope === undefined ? [] : [scope.allow, scope.alsoAllow, scope.deny],
  );
  const inLayers = layers.flatMap((layer) => ("idle" in layer ? [] : [...layer.deny, ...(layer.allow ?? [])]));
  // A profile layer has parts of the scopes' lists under the same paths, so the scopes come last.
  return new Map([...inLayers, ...inScopes].map(({ path = "", entries }) => [path, entries.map(({ text }) => text)]));
}

function summaryOf(aim: "allow" | "deny", edits: readonly Edit[], freed: readonly string[]): string {
  const all = [...Map.groupBy(edits, ({ path }) => path)].map(([path, steps]) => stepOf(path, steps));
  const steps = all.length <= 4 ? all : [...all.slice(0, 3), `make ${all.length - 3} more edits`];
  const names = freed.slice(0, 3).map((name) => short(name));
  const also = `; this also lifts the deny of ${freed.length} more (${names.join(", ")}${freed.length > 3 ? " …" : ""})`;
  return visible(`To ${aim} it, ${inSentence(steps)}${freed.length === 0 ? "" : also}.`);
}

/** What happens to one key. */
function stepOf(path: string, edits: readonly Edit[]): string {
  const entries = (op: Edit["op"]): string =>
    inSentence(edits.flatMap((edit) => (edit.op === op && typeof edit.value === "string" ? [quote(edit.value)] : [])));
  const [gone, come] = [entries("remove"), entries("add")];
  if (gone !== "") return come === "" ? `remove ${gone} from ${path}` : `replace ${gone} by ${come} in ${path}`;
  if (come !== "") return `add ${come} to ${path}`;
  const value = edits[0]?.value;
  if (value === undefined) return `drop ${path}`;
  const whole = jsonText(value);
  return `set ${path} to ${whole.length <= 50 || typeof value === "string" ? whole : `${value.length} entries`}`;
}

function inSentence(steps: readonly string[]): string {
  return steps.length < 2 ? steps.join("") : `${steps.slice(0, -1).join(", ")} and ${steps.at(-1) ?? ""}`;
}
