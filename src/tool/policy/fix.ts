// The smallest edit of the config that turns an answer round: freeing no more than the tool asked about where that can be.
import { commandOf } from "./edit-text.ts";
import { sandboxDefaults } from "./groups.ts";
import { allows, type ActiveLayer, type Plan } from "./layers.ts";
import { matches, membersOf, type KnownTool, type Vocabulary } from "./match.ts";
import { edited } from "./path.ts";
import type { List, Scope } from "./scopes.ts";
import type { Edit, Fix, LayerName, LayerVerdict } from "./shape.ts";
import { jsonText, quote, short, visible } from "./wording.ts";

/** A group or wildcard in a deny list is spelled out, less the tool, up to this many names; a wider one is taken away. */
const MAX_SPELLED_OUT = 6;

interface Opening {
  readonly edits: readonly Edit[];
  /** Tools that the edits set free besides the one asked about. */
  readonly freed: readonly string[];
}

/** `tool` is the canonical name; `blocks` are the verdicts that block it, none if it is allowed. */
export function fixFor(plan: Plan, tool: string, known: KnownTool, blocks: readonly LayerVerdict[]): Fix {
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
  const edits = [...openProfiles(plan, scope, known, blocked), ...lists.flatMap((opening) => opening.edits)];
  return toFix(plan, "allow", { edits: unique(edits), freed: lists.flatMap((opening) => opening.freed) });
}

function noWayAround({ layer, path = "" }: LayerVerdict): string {
  if (layer === "subagent") return "No edit gives it to a sub-agent; let the agent that started it make the call.";
  return `The list ${short(path, 60)} comes with the call; change it there.`;
}

/** The opt-in of an optional tool and both profiles; one edit of the base scope covers all three. */
function openProfiles(plan: Plan, scope: Scope, known: KnownTool, blocked: ReadonlySet<LayerName>): Edit[] {
  const base = blocked.has("optional") || blocked.has("profile") ? widen(scope, known) : [];
  const covered = base.length > 0 && !base.some(({ path }) => path.endsWith(".profile"));
  if (!blocked.has("provider-profile") || covered || plan.providerScope === undefined) return base;
  return [...base, ...widen(plan.providerScope, known)];
}

/**
 * Lets a tool past the profile of a scope. `allow` and `alsoAllow` may not stand side by side, so where `allow` is
 * written: a plugin tool is added to it (R1), a list that only opts in becomes `alsoAllow`, and with a list that
 * restricts the profile can go, as the list still holds everything else back.
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

function openLayer(layer: ActiveLayer, tool: string, known: KnownTool, { vocabulary }: Plan): Opening {
  if (layer.profile !== undefined) return { edits: [], freed: [] };
  const denied = layer.deny.map((list) => undeny(list, layer, tool, vocabulary));
  return {
    edits: [...denied.flatMap(({ edits }) => edits), ...admit(layer, tool, known)],
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
  // A tool named like its plugin cannot be denied alone: its name stands for the whole plugin.
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

function admit({ allow, path }: ActiveLayer, tool: string, { name }: KnownTool): Edit[] {
  if (allow === undefined || allow.some(({ entries }) => entries.some((entry) => allows(entry, tool)))) return [];
  if (allow[0]?.path !== undefined) return [add(`${path}.allow`, name)];
  return [{ op: "set", path: `${path}.allow`, value: [...sandboxDefaults.allow, name] }];
}

function add(path: string, value: string): Edit {
  return { op: "add", path, value };
}

/** The opt-in and the list of one scope may ask for the same entry. */
function unique(edits: readonly Edit[]): Edit[] {
  return edits.filter(({ op, path, value }, index) => {
    return (
      op !== "add" ||
      !edits.slice(0, index).some((other) => other.op === "add" && other.path === path && other.value === value)
    );
  });
}

function toFix({ written }: Plan, aim: "allow" | "deny", { edits, freed }: Opening): Fix {
  const after = [...Map.groupBy(edits, ({ path }) => path)].map(([path, steps]) => {
    const value = steps.reduce(edited, written(path)) as string | readonly string[] | undefined;
    return value === undefined ? { path } : { path, value };
  });
  return { summary: summaryOf(aim, edits, freed), edits, after, command: commandOf(after) };
}

function summaryOf(aim: "allow" | "deny", edits: readonly Edit[], freed: readonly string[]): string {
  const steps = edits.slice(0, 3).map(stepOf);
  const more = edits.length > 3 ? [`make ${edits.length - 3} more edits`] : [];
  const names = freed
    .slice(0, 3)
    .map((name) => short(name))
    .join(", ");
  const also =
    freed.length === 0 ? "" : `; this also frees ${freed.length} more (${names}${freed.length > 3 ? " …" : ""})`;
  return visible(`To ${aim} it, ${inSentence([...steps, ...more])}${also}.`);
}

function stepOf({ op, path, value }: Edit): string {
  if (value === undefined) return `drop ${path}`;
  if (typeof value === "string") {
    if (op === "set") return `set ${path} to ${quote(value)}`;
    return op === "add" ? `add ${quote(value)} to ${path}` : `remove ${quote(value)} from ${path}`;
  }
  const whole = jsonText(value);
  return `set ${path} to ${whole.length <= 50 ? whole : `${value.length} entries`}`;
}

function inSentence(steps: readonly string[]): string {
  return steps.length < 2 ? steps.join("") : `${steps.slice(0, -1).join(", ")} and ${steps.at(-1) ?? ""}`;
}
