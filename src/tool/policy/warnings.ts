// Warnings about the tool lists of a config: unknown names, lists without effect, contradictions.
import { nearest } from "../../core/nearest.ts";
import { isRecord } from "../../core/record.ts";
import { getAt } from "../../config/path.ts";
import { coreGroups, mcpGroup, pluginsGroup } from "./groups.ts";
import { kindOf, vocabularyOf, type Vocabulary } from "./match.ts";
import { under } from "./path.ts";
import { canonicalKey } from "./provider.ts";
import type { PolicyConfig, ToolLists, ToolsSection, ToolUniverse } from "./shape.ts";
import { quote, short } from "./safe-text.ts";

export interface ListWarning {
  readonly kind: "unknown-entry" | "allow-with-also-allow" | "provider-twice" | "plugin-clash";
  /** `error` where the config should not be accepted. */
  readonly level: "warning" | "error";
  readonly path: string;
  readonly entry?: string;
  readonly nearest?: string;
  /** The whole list is ignored, because it names no known tool. */
  readonly ignored: boolean;
  readonly message: string;
}

interface Found {
  readonly path: string;
  readonly lists: ToolLists;
  /** Lists of a scope are ignored when they name only unknown tools; lists that confine one place stay in force. */
  readonly isScope: boolean;
}

/** A spelling is suggested for at most this many entries, so that a huge list cannot delay the start. */
const MAX_SUGGESTIONS = 50;

export function listWarnings(config: PolicyConfig, universe: ToolUniverse): ListWarning[] {
  const vocabulary = vocabularyOf(universe);
  const suggest = suggester(vocabulary);
  return [
    ...allLists(config).flatMap((found) => [...conflict(found), ...unknownEntries(found, vocabulary, suggest)]),
    ...providerTwice(config),
    ...vocabulary.clashes.map(({ plugin, tool, with: owner }): ListWarning => {
      const taken = owner === "core" ? "a core name" : `the name of a tool of plugin ${quote(owner)}`;
      const message = `plugin ${quote(plugin)}: its tool ${quote(tool)} is skipped, because that is ${taken}`;
      return { kind: "plugin-clash", level: "warning", path: "plugins", entry: tool, ignored: false, message };
    }),
  ];
}

function allLists(config: PolicyConfig): Found[] {
  const agents = config.agents?.list ?? [];
  const pruning = config.agents?.defaults?.contextPruning?.tools;
  return [
    ...sectionLists("tools", config.tools),
    ...confining("tools.subagents.tools", config.tools?.subagents?.tools),
    ...agents.flatMap(({ tools }, index) => sectionLists(`agents.list[${index}].tools`, tools)),
    ...confining("agents.defaults.contextPruning.tools", pruning),
    ...roomLists("channels", config.channels ?? {}),
  ];
}

function sectionLists(path: string, section: ToolsSection = {}): Found[] {
  return [
    { path, lists: section, isScope: true },
    ...providersOf(path, section).map(({ key, lists }) => ({ path: key, lists, isScope: true })),
    ...confining(`${path}.sandbox.tools`, section.sandbox?.tools),
  ];
}

function providersOf(
  path: string,
  { byProvider = {} }: ToolsSection,
): { readonly key: string; readonly lists: ToolLists }[] {
  return Object.entries(byProvider).map(([key, lists]) => ({ key: under(`${path}.byProvider`, key), lists }));
}

function confining(path: string, lists: ToolLists | undefined): Found[] {
  return lists === undefined ? [] : [{ path, lists, isScope: false }];
}

/** Every `tools` and `toolsBySender` below the channels, at any depth. */
function roomLists(path: string, map: object): Found[] {
  return Object.entries(map).flatMap(([key, node]: [string, unknown]) => {
    if (!isRecord(node)) return [];
    const at = under(path, key);
    const tools = getAt(node, ["tools"]);
    const bySender = getAt(node, ["toolsBySender"]);
    const nested = ["accounts", "guilds", "teams", "channels", "groups", "topics"].flatMap((inner) => {
      const rooms = getAt(node, [inner]);
      return isRecord(rooms) ? roomLists(`${at}.${inner}`, rooms) : [];
    });
    return [
      ...(isRecord(tools) ? confining(`${at}.tools`, tools) : []),
      ...Object.entries(isRecord(bySender) ? bySender : {}).flatMap(([sender, lists]: [string, unknown]) =>
        isRecord(lists) ? confining(under(`${at}.toolsBySender`, sender), lists) : [],
      ),
      ...nested,
    ];
  });
}

function conflict({ path, lists: { allow, alsoAllow } }: Found): ListWarning[] {
  if (allow === undefined || alsoAllow === undefined || allow.length === 0 || alsoAllow.length === 0) return [];
  const message = `${short(path, 120)}: allow and alsoAllow exclude each other; put all entries into one of them`;
  return [{ kind: "allow-with-also-allow", level: "error", path, ignored: false, message }];
}

function unknownEntries({ path, lists, isScope }: Found, vocabulary: Vocabulary, suggest: Suggest): ListWarning[] {
  return (["allow", "alsoAllow", "deny"] as const).flatMap((key) => {
    const entries = (lists[key] ?? []).map((text, index) => vocabulary.entry(text, index));
    const unknown = entries.filter((entry) => kindOf(entry, vocabulary) === "unknown");
    const dead = key === "allow" && unknown.length === entries.length;
    const ignored = dead && isScope;
    const effect = key === "deny" ? "it denies nothing" : effectOf(dead, ignored);
    return unknown.map(({ text, index }): ListWarning => {
      const near = suggest(text);
      const at = `${path}.${key}[${index}]`;
      const guess = near === undefined ? "" : `, did you mean ${near}?`;
      const message = `${short(at, 120)}: no tool, plugin or group is named ${quote(text)}${guess} (${effect})`;
      const facts = { path: at, entry: text, ...(near === undefined ? {} : { nearest: near }), ignored, message };
      return { kind: "unknown-entry", level: "warning", ...facts };
    });
  });
}

function effectOf(dead: boolean, ignored: boolean): string {
  if (ignored) return "the list names no known tool and is ignored";
  return dead ? "the list names no known tool and so allows none" : "the rest of the list is in force";
}

type Suggest = (entry: string) => string | undefined;

function suggester({ tools }: Vocabulary): Suggest {
  const known = [...tools.keys(), ...coreGroups.keys(), pluginsGroup, mcpGroup];
  let left = MAX_SUGGESTIONS;
  return (entry) => {
    left -= 1;
    return left < 0 || entry.length > 64 ? undefined : nearest(entry.trim(), known);
  };
}

/** Two spellings of one provider: only the first is ever read. */
function providerTwice(config: PolicyConfig): ListWarning[] {
  const agents = (config.agents?.list ?? []).map(({ tools }, index) => ({
    path: `agents.list[${index}].tools`,
    tools,
  }));
  return [{ path: "tools", tools: config.tools }, ...agents].flatMap(({ path, tools }) => {
    const seen = new Map<string, string>();
    return Object.keys(tools?.byProvider ?? {}).flatMap((key): ListWarning[] => {
      const first = seen.get(canonicalKey(key));
      if (first === undefined) {
        seen.set(canonicalKey(key), key);
        return [];
      }
      const at = under(`${path}.byProvider`, key);
      const message = `${short(at, 120)}: means the same provider as ${quote(first)}; only that one is read`;
      return [{ kind: "provider-twice", level: "warning", path: at, entry: key, ignored: true, message }];
    });
  });
}
