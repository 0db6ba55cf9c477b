// Entries of allow and deny lists: what each means for the known tools, and whether it matches a name.
import { bundled, canonicalName, coreGroups, coreTools, mcpGroup, pluginsGroup, toolAliases } from "./groups.ts";
import type { ToolUniverse } from "./shape.ts";

/** What an entry matches; a wildcard is `core` if it matches any core tool. */
export type EntryKind = "core" | "plugin" | "unknown";

/** One parsed entry of a list. Without `term` and `glob`, its name is unknown. */
export interface Entry {
  /** As written. */
  readonly text: string;
  readonly index: number;
  readonly term?: Term;
  readonly glob?: Glob;
}

/** What a name means: a tool, a group or a plugin. */
export interface Term {
  readonly kind: "core" | "plugin";
  readonly members: readonly string[];
  readonly set?: ReadonlySet<string>;
}

/** A wildcard as the literal pieces around its stars. */
export interface Glob {
  readonly first: string;
  readonly middle: readonly string[];
  readonly last: string;
  readonly literalLength: number;
}

export interface Vocabulary {
  /** Facts of each tool by canonical name: core first, then plugins in load order. */
  readonly tools: ReadonlyMap<string, KnownTool>;
  readonly clashes: readonly PluginClash[];
  entry(text: string, index: number): Entry;
}

export interface KnownTool {
  /** As registered. */
  readonly name: string;
  readonly plugin?: string;
  readonly optional: boolean;
  /** `plugin` is an MCP server. */
  readonly mcp?: true;
}

export interface PluginClash {
  readonly plugin: string;
  readonly tool: string;
  readonly with: string;
}

const vocabularies = new WeakMap<ToolUniverse, Vocabulary>();

/** A universe never changes; loading or unloading a plugin creates a new one. */
export function vocabularyOf(universe: ToolUniverse): Vocabulary {
  const known = vocabularies.get(universe);
  if (known !== undefined) return known;
  const made = createVocabulary(universe);
  vocabularies.set(universe, made);
  return made;
}

function createVocabulary(universe: ToolUniverse): Vocabulary {
  const tools = new Map(coreVocabulary().tools);
  const clashes: PluginClash[] = [];
  for (const name of universe.core.keys()) {
    if (!tools.has(canonicalName(name))) tools.set(canonicalName(name), { name, optional: false });
  }
  const byPlugin = new Map(bundled);
  const servers = new Set<string>();
  for (const plugin of universe.plugins) {
    const names: string[] = [];
    const mcp = plugin.mcp === true ? ({ mcp: true } as const) : {};
    for (const { name, optional = false } of plugin.tools) {
      const canonical = canonicalName(name);
      const taken = tools.get(canonical);
      if (taken !== undefined || canonical.startsWith("group:")) {
        clashes.push({ plugin: plugin.id, tool: name, with: taken?.plugin ?? "core" });
        continue;
      }
      tools.set(canonical, { name, plugin: plugin.id, optional, ...mcp });
      names.push(canonical);
    }
    const id = canonicalName(plugin.id);
    byPlugin.set(id, [...(byPlugin.get(id) ?? []), ...names]);
    if (plugin.mcp === true) servers.add(id);
  }
  const meaning = (word: string): Term | undefined =>
    coreVocabulary().terms.get(word) ?? mcpTerm(word, servers, byPlugin) ?? ownTerm(word, tools, byPlugin, servers);
  return { tools, clashes, entry: (text, index) => toEntry(text, index, meaning) };
}

let core: { readonly tools: ReadonlyMap<string, KnownTool>; readonly terms: ReadonlyMap<string, Term> } | undefined;

/** What the names mean before any plugin is loaded. A core meaning always wins. */
function coreVocabulary(): NonNullable<typeof core> {
  core ??= {
    tools: new Map([...coreTools.keys()].map((name) => [name, { name, optional: false }])),
    terms: new Map([
      ...[...coreTools.keys()].map((name) => [name, toTerm("core", [name])] as const),
      ...[...toolAliases].map(([old, name]) => [old, toTerm("core", [name])] as const),
      ...[...coreGroups].map(([name, members]) => [name, toTerm("core", members)] as const),
    ]),
  };
  return core;
}

/** A further core tool, a plugin tool, or a plugin id; an id that equals the name of a plugin tool means both. */
function ownTerm(
  word: string,
  tools: ReadonlyMap<string, KnownTool>,
  byPlugin: ReadonlyMap<string, readonly string[]>,
  servers: ReadonlySet<string>,
): Term | undefined {
  if (word === pluginsGroup)
    return toTerm(
      "plugin",
      [...byPlugin].flatMap(([id, names]) => (servers.has(id) ? [] : names)),
    );
  const tool = tools.get(word);
  const plugin = byPlugin.get(word);
  if (tool !== undefined && tool.plugin === undefined) return toTerm("core", [word]);
  if (tool === undefined && plugin === undefined) return undefined;
  return toTerm("plugin", [...new Set([...(plugin ?? []), ...(tool === undefined ? [] : [word])])]);
}

/** `group:mcp`, or a tool of a configured server, known or not: a list must mean the same before the server was asked. */
function mcpTerm(
  word: string,
  servers: ReadonlySet<string>,
  byPlugin: ReadonlyMap<string, readonly string[]>,
): Term | undefined {
  if (word === mcpGroup)
    return toTerm(
      "plugin",
      [...servers].flatMap((id) => byPlugin.get(id) ?? []),
    );
  const [id = ""] = word.split("__", 1);
  return id !== word && servers.has(id) && !word.includes("*") ? toTerm("plugin", [word]) : undefined;
}

function toTerm(kind: Term["kind"], members: readonly string[]): Term {
  return members.length === 1 ? { kind, members } : { kind, members, set: new Set(members) };
}

function toEntry(text: string, index: number, meaning: (word: string) => Term | undefined): Entry {
  const word = canonicalName(text);
  const term = meaning(word);
  if (term !== undefined) return { text, index, term };
  return word.includes("*") ? { text, index, glob: toGlob(word) } : { text, index };
}

/** `tool` must be canonical. */
export function matches({ term, glob }: Entry, tool: string): boolean {
  if (term !== undefined) return term.set === undefined ? term.members[0] === tool : term.set.has(tool);
  return glob !== undefined && globMatches(glob, tool);
}

/** The entry, if it names plugin tools explicitly: a tool, a plugin id or `group:plugins`. Wildcards never opt in. */
export function optInOf(entry: Entry): Entry | undefined {
  if (entry.term?.kind !== "plugin") return undefined;
  // A core tool needs no opt-in, and a list that restricts must not let it past a profile.
  return {
    ...entry,
    term: toTerm(
      "plugin",
      entry.term.members.filter((name) => !coreTools.has(name)),
    ),
  };
}

/** Core names come first among the tools, so a common wildcard is decided after a few. */
export function kindOf({ term, glob }: Entry, { tools }: Vocabulary): EntryKind {
  if (term !== undefined) return term.kind;
  if (glob === undefined) return "unknown";
  for (const [name, { plugin }] of tools) {
    if (globMatches(glob, name)) return plugin === undefined ? "core" : "plugin";
  }
  return "unknown";
}

/** All names of the universe that an entry matches. */
export function membersOf({ term, glob }: Entry, { tools }: Vocabulary): readonly string[] {
  if (term !== undefined) return term.members;
  return glob === undefined ? [] : [...tools.keys()].filter((name) => globMatches(glob, name));
}

/** `*` is any run of characters, everything else is literal. The pattern must contain a star. */
export function toGlob(pattern: string): Glob {
  const pieces = pattern.split("*");
  const literalLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const middle = pieces.slice(1, -1).filter((piece) => piece !== "");
  return { first: pieces[0] ?? "", middle, last: pieces.at(-1) ?? "", literalLength };
}

/** Matches pieces from left to right at their first position: no regular expression, so no pattern is slow. */
export function globMatches({ first, middle, last, literalLength }: Glob, name: string): boolean {
  if (name.length < literalLength || !name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const piece of middle) {
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
