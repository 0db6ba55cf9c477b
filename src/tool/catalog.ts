// Which tools a run sees: every known tool with the policy decision on it. Tool objects stay in this file and call.ts.
import type { OpenClawError } from "../core/error.ts";
import type { AgentId } from "../core/names.ts";
import { isRecord } from "../core/record.ts";
import { Lru } from "../base/lru.ts";
import type { Config } from "../config/schema/index.ts";
import { agentConfig } from "../config/agents.ts";
import type { Settings } from "../config/live-settings.ts";
import { prepareArguments } from "./arguments.ts";
import { decide } from "./policy/decide.ts";
import { explainText } from "./policy/explain.ts";
import { canonicalName, coreTools, groupOf } from "./policy/groups.ts";
import type { Decision, PluginTools, ToolUniverse } from "./policy/shape.ts";
import type { Subject } from "./subject.ts";
import type { Intent, Tool, ToolEnv, ToolPlace } from "./tool.ts";
import type { CatalogRow } from "../protocol/methods/tools.ts";

export type { CatalogRow };

export interface Verdict {
  readonly decision: Decision;
  /** Undefined when the name is known but this build has no such tool. */
  readonly tool: Tool | undefined;
  readonly unavailable: { readonly reason: string; readonly fix: string } | undefined;
  readonly place: ToolPlace | undefined;
  /** The decision without prose, for the journal. */
  readonly summary: unknown;
  readonly explain: () => string;
}

/** A tool as a model sees it. */
export interface OfferedTool {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: unknown;
  /** Whole, with what only the check needs. */
  readonly params: Tool["params"];
  readonly output: Tool["output"];
}

export interface Catalog {
  /** To be awaited before a turn or a call that may use tools that are not known yet; undefined when all are known. */
  prepare(name?: string): Promise<void> | undefined;
  /** Why a tool of that name is not known, when asking for it failed. */
  problem(name: string): OpenClawError | undefined;
  /** Calls the listener when tools came, went or changed without a change of the config. Returns how to stop. */
  follow(listener: () => void): () => void;
  judge(subject: Subject, name: string): Verdict;
  rows(subject: Subject): CatalogRow[];
  /** The allowed and available tools in a fixed order; cached, so cheap enough for every turn. */
  offered(subject: Subject): readonly OfferedTool[];
  /** What a call would do, without running it; undefined when unknown. */
  effect(subject: Subject, name: string, args: Record<string, unknown>): Intent["does"] | undefined;
  /** Config and folders of a call. */
  surroundings(subject: Subject): {
    readonly config: Config;
    readonly workspace: string;
    readonly workspaceOnly: boolean;
    readonly agentWorkspace: string | undefined;
    /** What the workspace is called in the sandbox of a sandboxed session. */
    readonly inside: string | undefined;
  };
}

/** Tools that come and go while the gateway runs: those of MCP servers. */
export interface ChangingTools {
  /** Differs after every change of `sets`. Called for every decision, so it must be cheap. */
  revision(): string;
  sets(): readonly ToolSet[];
  /** What the model is offered of the allowed tools. */
  choose(allowed: readonly Tool[]): readonly Tool[];
  /** Asks for tools that are not known yet; undefined when all are. Without a name it resolves after a short wait at the latest. */
  prepare(name?: string): Promise<void> | undefined;
  /** Why a tool of that name is not known, when asking for it failed. */
  problem(name: string): OpenClawError | undefined;
  /** Calls the listener after a change of `sets`. Returns how to stop. */
  follow(listener: () => void): () => void;
}

export interface ToolSet extends PluginTools {
  readonly tools: readonly Tool[];
}

export interface CatalogDeps {
  readonly tools: readonly Tool[];
  /** The tools behind the names in `plugins`. */
  readonly pluginTools?: readonly Tool[];
  readonly plugins: readonly PluginTools[];
  readonly changing?: ChangingTools | undefined;
  settings(): Settings;
  workspaceOf(config: Config, agent: AgentId): string;
  /** The folder of a sandboxed session, as a path of this machine. */
  sandboxPaths?(subject: Subject): {
    readonly workspace: string;
    readonly inside: string;
    readonly agentWorkspace?: string;
  };
}

const idle = new AbortController().signal;

export function createCatalog(deps: CatalogDeps): Catalog {
  // Changing tools are read by the first decision, not by the start of the gateway.
  let known = knownTools({ ...deps, changing: undefined });
  const verdicts = new Lru<Verdict>(4096);
  const offers = new Lru<readonly OfferedTool[]>(256);
  let revision = "";

  const judge = (subject: Subject, name: string): Verdict => {
    const settings = deps.settings();
    const current =
      deps.changing === undefined ? settings.revision : `${settings.revision} ${deps.changing.revision()}`;
    if (current !== revision) {
      verdicts.clear();
      offers.clear();
      if (deps.changing !== undefined) known = knownTools(deps);
      revision = current;
    }
    const key = cacheKey(subject, name.slice(0, 200));
    const cached = verdicts.get(key);
    if (cached !== undefined) return cached;
    const verdict = judgeTool(subject, name, known.byName.get(canonicalName(name)), {
      universe: known.universe,
      settings,
    });
    verdicts.set(key, verdict);
    return verdict;
  };

  return {
    judge,
    prepare: (name) => deps.changing?.prepare(name),
    problem: (name) => deps.changing?.problem(name),
    follow: (listener) => deps.changing?.follow(listener) ?? (() => {}),
    rows(subject) {
      // Judging one name first brings the known tools up to date.
      judge(subject, "read");
      const { plugins } = known.universe;
      const sources = new Map(
        plugins.flatMap((set) => set.tools.map(({ name }) => [name, set.mcp === true ? `mcp:${set.id}` : "core"])),
      );
      return [...new Set([...coreTools.keys(), ...sources.keys()])].map((name) =>
        toRow(name, judge(subject, name), sources.get(name)),
      );
    },
    offered(subject) {
      judge(subject, "read");
      const key = cacheKey(subject);
      const cached = offers.get(key);
      if (cached !== undefined) return cached;
      const allowed = known.tools.filter(({ name }) => isOffered(judge(subject, name)));
      const offer = (deps.changing?.choose(allowed) ?? allowed).map(toOffered);
      offers.set(key, offer);
      return offer;
    },
    effect(subject, name, args) {
      const { tool: asked } = judge(subject, name);
      const target = asked === undefined ? undefined : delegateOf(asked, args);
      const tool = target === undefined ? asked : judge(subject, target.tool).tool;
      return tool === undefined ? undefined : effectOf(tool, subject, target?.args ?? args, deps);
    },
    surroundings(subject) {
      const { config } = deps.settings();
      const own = agentConfig(config, subject.agent)?.tools?.fs?.workspaceOnly;
      const sandboxed = subject.sandboxed ? deps.sandboxPaths?.(subject) : undefined;
      return {
        config,
        workspace: sandboxed?.workspace ?? deps.workspaceOf(config, subject.agent),
        agentWorkspace: sandboxed?.agentWorkspace,
        inside: sandboxed?.inside,
        workspaceOnly: own ?? config.tools?.fs?.workspaceOnly ?? false,
      };
    },
  };
}

interface KnownTools {
  readonly tools: readonly Tool[];
  readonly byName: ReadonlyMap<string, Tool>;
  readonly universe: ToolUniverse;
}

/** The first tool of a name wins, as in the policy. */
function knownTools({ tools, pluginTools = [], plugins, changing }: CatalogDeps): KnownTools {
  const sets = changing?.sets() ?? [];
  const byName = new Map<string, Tool>();
  for (const tool of [...tools, ...pluginTools, ...sets.flatMap((set) => set.tools)]) {
    const name = canonicalName(tool.name);
    if (!byName.has(name)) byName.set(name, tool);
  }
  return { tools: [...byName.values()], byName, universe: { core: coreTools, plugins: [...plugins, ...sets] } };
}

/** The tool that a call is really for; undefined when it is for this one, or when its arguments are not valid. */
export function delegateOf(
  tool: Tool,
  args: unknown,
): { readonly tool: string; readonly args: Record<string, unknown> } | undefined {
  if (tool.delegate === undefined || !isRecord(args)) return undefined;
  const target = tool.delegate(args);
  return target === undefined || canonicalName(target.tool) === tool.name ? undefined : target;
}

/** All that a decision depends on besides the config. */
function cacheKey({ agent, model, group, sandboxed, subagent, limits }: Subject, name?: string): string {
  return JSON.stringify([name, agent, model, group, sandboxed, subagent, limits]);
}

function judgeTool(
  subject: Subject,
  name: string,
  tool: Tool | undefined,
  { universe, settings }: { readonly universe: ToolUniverse; readonly settings: Settings },
): Verdict {
  const { config } = settings;
  const { agent, model, group, sandboxed, subagent, limits } = subject;
  const decision = decide({ config, universe, agentId: agent, model, group, sandboxed, subagent, limit: limits }, name);
  const env = { config, agent, model, sandboxed };
  const place = tool?.place?.(env);
  const unavailable = whyUnavailable(tool, decision, env);
  return {
    decision,
    tool,
    unavailable,
    place,
    summary: summaryOf(decision, place),
    explain: () => explainText(decision, { locate: settings.locate, subject: factsOf(subject), unavailable, place }),
  };
}

function whyUnavailable(tool: Tool | undefined, { allowed }: Decision, env: ToolEnv): Verdict["unavailable"] {
  if (tool === undefined && allowed) return { reason: "this build does not have it yet", fix: "openclaw tools list" };
  const answer = tool?.available?.(env);
  return answer?.available === false ? { reason: answer.reason, fix: answer.fix } : undefined;
}

export function isOffered({ decision, tool, unavailable }: Verdict): boolean {
  return decision.allowed && tool !== undefined && unavailable === undefined;
}

function toOffered({ name, summary, description, params, output }: Tool): OfferedTool {
  return { name, summary, description, parameters: forModel(params), params, output };
}

function effectOf(
  tool: Tool,
  subject: Subject,
  args: Parameters<Catalog["effect"]>[2],
  deps: CatalogDeps,
): ReturnType<Catalog["effect"]> {
  const { config } = deps.settings();
  const workspace = deps.workspaceOf(config, subject.agent);
  try {
    const place = { config, workspace, workspaceOnly: true, senderIds: [], hints: {}, signal: idle };
    const call = { ...subject, ...place, id: "", turn: "", allows: () => false, progress: () => {} };
    return tool.intent(prepareArguments(tool, args), call).does;
  } catch {
    return undefined; // the arguments are not checked yet; the call itself reports what is wrong
  }
}

function toRow(
  name: string,
  { decision, tool, unavailable, place, explain }: Verdict,
  source: string = "core",
): CatalogRow {
  return {
    name,
    summary: tool?.summary ?? "",
    description: tool?.description ?? "",
    group: source.startsWith("mcp:") ? "mcp" : groupOf(name),
    source,
    built: tool !== undefined,
    available: tool !== undefined && unavailable === undefined,
    ...(unavailable === undefined ? {} : { unavailable }),
    ...(place === undefined ? {} : { place }),
    allowed: decision.allowed,
    parameters: tool?.params,
    decision,
    explain: explain(),
  };
}

function summaryOf({ allowed, decidedBy, layers }: Decision, place: ToolPlace | undefined): unknown {
  const passed = layers.map(({ layer, verdict, rule }) =>
    rule === undefined ? `${layer}:${verdict}` : `${layer}:${verdict}:${rule.path}`,
  );
  return {
    allowed,
    ...(decidedBy === undefined ? {} : { decidedBy }),
    layers: passed,
    ...(place === undefined ? {} : { place: place.summary }),
  };
}

function factsOf({ agent, session, model, group, sandboxed, subagent }: Subject): Record<string, string> {
  return {
    agent,
    session,
    ...(model === undefined ? {} : { model }),
    ...(group === undefined
      ? {}
      : { chat: `${group.channel}:${group.groupId}`, sender: group.senderIds.join(", ") || "unknown" }),
    ...(sandboxed ? { sandbox: "on" } : {}),
    ...(subagent ? { subagent: "yes" } : {}),
  };
}

const checkOnly: ReadonlySet<string> = new Set(["pattern", "patternProperties", "minimum", "maximum"]);

/** Leaves out what only the check needs: it does not help a model and costs bytes in every request. */
function forModel(params: Tool["params"]): unknown {
  const { additionalProperties: _closed, ...schema } = params as typeof params & Record<string, unknown>;
  const properties = Object.entries(params.properties).map(([name, property]) => [
    name,
    Object.fromEntries(Object.entries(property).filter(([keyword]) => !checkOnly.has(keyword))),
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}
