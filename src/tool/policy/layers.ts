// The nine layers of the tool policy in order, each with the lists in force and their config paths.
import { mcpSearchTool, profiles, sandboxDefaults, subagentDeny } from "./groups.ts";
import { kindOf, matches, vocabularyOf, type Vocabulary } from "./match.ts";
import { groupPolicy } from "./group.ts";
import { beyondProfile, optInsOf, resolveScopes, toList, type List, type Scope, type Scopes } from "./scopes.ts";
import type { CallLimit, LayerName, PolicyInput, Profile, ToolLists } from "./shape.ts";

/** A layer with lists in force. Without `allow`, only what `deny` names is denied. */
export interface ActiveLayer {
  readonly name: LayerName;
  readonly path: string;
  readonly deny: readonly List[];
  readonly allow: readonly List[] | undefined;
  /** Why a configured allow list is not in force. */
  readonly ignored?: { readonly path: string; readonly why: string; readonly unknown: readonly string[] };
  readonly profile?: Profile;
}

export interface IdleLayer {
  readonly name: LayerName;
  readonly idle: "not-set" | "not-applicable";
  readonly note: string;
}

export type Layer = ActiveLayer | IdleLayer;

export interface PolicyPlan {
  readonly input: PolicyInput;
  readonly vocabulary: Vocabulary;
  readonly scopes: Scopes;
  /** The scope that supplies the provider profile, if any. */
  readonly providerScope: Scope | undefined;
  /** Entries of the global and agent scope that name plugin tools explicitly. */
  readonly optIns: readonly List[];
  readonly layers: readonly Layer[];
}

export function planPolicy(input: PolicyInput): PolicyPlan {
  const vocabulary = vocabularyOf(input.universe);
  const scopes = resolveScopes(input, vocabulary);
  const { global, agent, globalProvider, agentProvider } = scopes;
  const base = agent === undefined ? [global] : [global, agent];
  const perProvider = [globalProvider, agentProvider].filter((scope) => scope !== undefined);
  const extras = base.flatMap(beyondProfile);
  const providerExtras = [...extras, ...perProvider.flatMap(beyondProfile)];
  // The agent's profile replaces the global one; they do not add up.
  const profileScope = base.findLast(({ written }) => written.profile !== undefined);
  const providerScope = perProvider.findLast(({ written }) => written.profile !== undefined);
  const idleProvider = idleProviderLayer(input);
  return {
    input,
    vocabulary,
    scopes,
    providerScope,
    optIns: base.flatMap(optInsOf),
    layers: [
      profileLayer("profile", profileScope, extras, vocabulary) ?? notSet("profile", "no profile is set"),
      profileLayer("provider-profile", providerScope, providerExtras, vocabulary) ??
        idleProvider("provider-profile", "no profile is set"),
      scopeLayer("global", global, vocabulary) ?? notSet("global", "tools.allow and tools.deny are not set"),
      scopeLayer("global-provider", globalProvider, vocabulary) ??
        idleProvider("global-provider", "tools.byProvider has no lists"),
      scopeLayer("agent", agent, vocabulary) ?? notSet("agent", "the agent has no own lists"),
      scopeLayer("agent-provider", agentProvider, vocabulary) ??
        idleProvider("agent-provider", "the agent has no lists"),
      roomLayer(input, vocabulary),
      sandboxLayer(input, scopes, vocabulary),
      subagentLayer(input, vocabulary),
      ...limitLayer(input, vocabulary),
    ],
  };
}

function notSet(name: LayerName, note: string): IdleLayer {
  return { name, idle: "not-set", note };
}

function notApplicable(name: LayerName, note: string): IdleLayer {
  return { name, idle: "not-applicable", note };
}

function idleProviderLayer({ model }: PolicyInput): (name: LayerName, what: string) => IdleLayer {
  if (model === undefined) return (name) => notApplicable(name, "the call uses no model");
  return (name, what) => notSet(name, `${what} for ${model}`);
}

function profileLayer(
  name: LayerName,
  scope: Scope | undefined,
  extras: readonly List[],
  vocabulary: Vocabulary,
): ActiveLayer | undefined {
  const profile = scope?.written.profile;
  if (scope === undefined || profile === undefined) return undefined;
  const path = `${scope.path}.profile`;
  if (profile === "full") return { name, path, profile, deny: [], allow: undefined };
  return { name, path, profile, deny: [], allow: [toList(undefined, profiles[profile], vocabulary), ...extras] };
}

/** The lists of the global, agent and provider scopes. */
function scopeLayer(name: LayerName, scope: Scope | undefined, vocabulary: Vocabulary): ActiveLayer | undefined {
  if (scope === undefined || scope.allow.entries.length + scope.deny.entries.length === 0) return undefined;
  const { path, deny, allow, alsoAllow, restricts } = scope;
  const ignored = ignoredAllow(scope, vocabulary);
  const layer = { name, path, deny: [deny], allow: restricts ? [allow, alsoAllow] : undefined };
  return ignored === undefined ? layer : { ...layer, ignored };
}

/**
 * The only place where an allow list is ignored: the documentation asks for it, so that a plugin that is not loaded
 * removes no other tools (docs/decisions/0034-lists-of-unknown-names.md).
 */
function ignoredAllow({ allow, restricts }: Scope, vocabulary: Vocabulary): ActiveLayer["ignored"] {
  if (restricts || allow.entries.length === 0) return undefined;
  const path = allow.path ?? "";
  if (allow.entries.some((entry) => kindOf(entry, vocabulary) === "plugin")) {
    return { path, why: "it names only plugin tools: it opts them in and restricts nothing", unknown: [] };
  }
  return { path, why: "it names no known tool", unknown: allow.entries.slice(0, 5).map(({ text }) => text) };
}

function roomLayer({ config, group }: PolicyInput, vocabulary: Vocabulary): Layer {
  if (group === undefined) return notApplicable("group", "the session is not in a group");
  const policy = groupPolicy(config, group);
  if (policy === undefined) return notSet("group", `no entry for ${group.channel} group ${group.groupId}`);
  return confiningLayer("group", policy.path, policy.lists, vocabulary);
}

/** Lists that confine one place are never ignored: with unknown names only, no tool is allowed. */
function confiningLayer(name: LayerName, path: string, lists: ToolLists, vocabulary: Vocabulary): ActiveLayer {
  const allow = toList(`${path}.allow`, lists.allow, vocabulary);
  const alsoAllow = toList(`${path}.alsoAllow`, lists.alsoAllow, vocabulary);
  const deny = [toList(`${path}.deny`, lists.deny, vocabulary)];
  return { name, path, deny, allow: allow.entries.length === 0 ? undefined : [allow, alsoAllow] };
}

/** The agent's object replaces the global one completely; a missing key has the built-in value. */
function sandboxLayer({ config, sandboxed }: PolicyInput, scopes: Scopes, vocabulary: Vocabulary): Layer {
  if (!sandboxed) return notApplicable("sandbox", "the session is not sandboxed: its tools act on this machine");
  const own = scopes.agentTools.sandbox?.tools;
  const written = own ?? config.tools?.sandbox?.tools ?? {};
  const scope = own === undefined ? scopes.global : (scopes.agent ?? scopes.global);
  const layer = confiningLayer("sandbox", `${scope.path}.sandbox.tools`, written, vocabulary);
  const { allow, deny } = sandboxDefaults;
  return {
    ...layer,
    deny: written.deny === undefined ? [toList(undefined, deny, vocabulary)] : layer.deny,
    allow: written.allow === undefined ? [toList(undefined, allow, vocabulary)] : layer.allow,
  };
}

function subagentLayer({ config, subagent }: PolicyInput, vocabulary: Vocabulary): Layer {
  if (!subagent) return notApplicable("subagent", "the session is not a subagent's");
  const written = config.tools?.subagents?.tools ?? {};
  const layer = confiningLayer("subagent", "tools.subagents.tools", written, vocabulary);
  return { ...layer, deny: [toList(undefined, subagentDeny, vocabulary), ...layer.deny] };
}

function limitLayer({ limit }: PolicyInput, vocabulary: Vocabulary): Layer[] {
  if (limit === undefined) return [];
  const limits: readonly CallLimit[] = "path" in limit ? [limit] : limit;
  return limits.map(({ path, allow = [], deny }) => {
    const lists = allow.length === 0 ? undefined : [toList(path, allow, vocabulary)];
    return { name: "limit", path, deny: [toList(path, deny, vocabulary)], allow: lists };
  });
}

/**
 * The names under which a tool passes an allow list: `exec` includes `apply_patch`, unless `exec` itself is denied.
 * Denying `exec` does not deny an `apply_patch` that is named. The search for MCP tools passes with any tool it could find.
 */
export function namesFor({ layers, vocabulary }: PolicyPlan, tool: string): readonly string[] {
  if (tool === mcpSearchTool)
    return [tool, ...[...vocabulary.tools].flatMap(([name, { mcp }]) => (mcp === true && name !== tool ? [name] : []))];
  if (tool !== "apply_patch") return [tool];
  const denied = layers.some((layer) => !("idle" in layer) && layer.deny.some((list) => includesTool(list, "exec")));
  return denied ? [tool] : [tool, "exec"];
}

function includesTool({ entries }: List, tool: string): boolean {
  return entries.some((entry) => matches(entry, tool));
}
