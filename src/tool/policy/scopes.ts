// The global, agent and provider scopes of a call, with their lists parsed into entries.
import { foldCase } from "./groups.ts";
import { kindOf, optInOf, type Entry, type Vocabulary } from "./match.ts";
import { under } from "./path.ts";
import { providerKey } from "./provider.ts";
import type { PolicyInput, ScopedTools, ToolsSection } from "./shape.ts";

/** One list of entries. Without a path it is built in. */
export interface List {
  readonly path?: string;
  readonly entries: readonly Entry[];
}

/** One `{profile, allow, alsoAllow, deny}` object of the config. */
export interface Scope {
  readonly path: string;
  readonly written: ScopedTools;
  readonly allow: List;
  readonly alsoAllow: List;
  readonly deny: List;
  /** An allow list without any core entry only opts in plugin tools; core tools stay allowed (docs/decisions/0034). */
  readonly restricts: boolean;
}

export interface Scopes {
  readonly global: Scope;
  /** Present when the agent is in `agents.list`, even without `tools`. */
  readonly agent: Scope | undefined;
  readonly agentTools: ToolsSection;
  readonly globalProvider: Scope | undefined;
  readonly agentProvider: Scope | undefined;
}

export function resolveScopes({ config, agentId, model }: PolicyInput, vocabulary: Vocabulary): Scopes {
  const agents = config.agents?.list ?? [];
  const index = agents.findIndex(({ id }) => foldCase(id) === foldCase(agentId));
  const agentTools = agents[index]?.tools ?? {};
  const global = toScope("tools", config.tools ?? {}, vocabulary);
  const agent = index === -1 ? undefined : toScope(`agents.list[${index}].tools`, agentTools, vocabulary);
  return {
    global,
    agent,
    agentTools,
    globalProvider: providerScope(global, config.tools?.byProvider, model, vocabulary),
    agentProvider: agent && providerScope(agent, agentTools.byProvider, model, vocabulary),
  };
}

function toScope(path: string, written: ScopedTools, vocabulary: Vocabulary): Scope {
  const allow = toList(`${path}.allow`, written.allow, vocabulary);
  return {
    path,
    written,
    allow,
    alsoAllow: toList(`${path}.alsoAllow`, written.alsoAllow, vocabulary),
    deny: toList(`${path}.deny`, written.deny, vocabulary),
    restricts: allow.entries.some((entry) => kindOf(entry, vocabulary) === "core"),
  };
}

export function toList(path: string | undefined, texts: readonly string[] = [], vocabulary: Vocabulary): List {
  const entries = texts.map((text, index) => vocabulary.entry(text, index));
  return path === undefined ? { entries } : { path, entries };
}

/** Of all keys that match the model, only the most specific one counts (docs/decisions/0007-by-provider-most-specific.md). */
function providerScope(
  { path }: Scope,
  byProvider: ToolsSection["byProvider"] = {},
  model: string | undefined,
  vocabulary: Vocabulary,
): Scope | undefined {
  const key = model === undefined ? undefined : providerKey(Object.keys(byProvider), model);
  const written = key === undefined ? undefined : byProvider[key];
  if (key === undefined || written === undefined) return undefined;
  return toScope(under(`${path}.byProvider`, key), written, vocabulary);
}

/** Entries that name plugin tools explicitly: they opt in optional tools, and a profile does not remove them (R1). */
export function optInsOf({ allow, alsoAllow }: Scope): List[] {
  return [onlyOptIns(allow), onlyOptIns(alsoAllow)];
}

/** R1 and R2: what is added to a profile. */
export function beyondProfile({ allow, alsoAllow }: Scope): List[] {
  return [onlyOptIns(allow), alsoAllow];
}

function onlyOptIns(list: List): List {
  return { ...list, entries: list.entries.flatMap((entry) => optInOf(entry) ?? []) };
}
