// Which tools a run sees: every known tool with the policy decision on it. Tool objects stay in this file and call.ts.
import type { AgentId } from "../core/names.ts";
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
import type { Intent, Tool, ToolPlace } from "./tool.ts";
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
}

export interface Catalog {
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

export interface CatalogDeps {
  readonly tools: readonly Tool[];
  readonly plugins: readonly PluginTools[];
  settings(): Settings;
  workspaceOf(config: Config, agent: AgentId): string;
  /** The folder a sandboxed session works in, as it lies on this machine. */
  sandboxPaths?(subject: Subject): {
    readonly workspace: string;
    readonly inside: string;
    readonly agentWorkspace?: string;
  };
}

const idle = new AbortController().signal;

export function createCatalog(deps: CatalogDeps): Catalog {
  const tools = new Map(deps.tools.map((tool) => [tool.name, tool]));
  const universe: ToolUniverse = { core: coreTools, plugins: deps.plugins };
  const verdicts = new Lru<Verdict>(4096);
  const offers = new Lru<readonly OfferedTool[]>(256);
  let revision = "";

  const judge = (subject: Subject, name: string): Verdict => {
    const settings = deps.settings();
    if (settings.revision !== revision) {
      verdicts.clear();
      offers.clear();
      revision = settings.revision;
    }
    const key = JSON.stringify([
      name.slice(0, 200),
      subject.agent,
      subject.model,
      subject.group,
      subject.sandboxed,
      subject.subagent,
      subject.limits,
    ]);
    const known = verdicts.get(key);
    if (known !== undefined) return known;
    const verdict = judgeUncached(subject, name, settings);
    verdicts.set(key, verdict);
    return verdict;
  };

  const judgeUncached = (subject: Subject, name: string, settings: Settings): Verdict => {
    const { config } = settings;
    const decision = decide(
      {
        config,
        universe,
        agentId: subject.agent,
        model: subject.model,
        group: subject.group,
        sandboxed: subject.sandboxed,
        subagent: subject.subagent,
        limit: subject.limits,
      },
      name,
    );
    const tool = tools.get(canonicalName(name));
    const env = { config, agent: subject.agent, model: subject.model, sandboxed: subject.sandboxed };
    const answer = tool?.available?.(env);
    const place = tool?.place?.(env);
    const unavailable =
      tool === undefined && decision.allowed
        ? { reason: "this build does not have it yet", fix: "openclaw tools list" }
        : answer?.available === false
          ? { reason: answer.reason, fix: answer.fix }
          : undefined;
    return {
      decision,
      tool,
      unavailable,
      place,
      summary: summaryOf(decision, place),
      explain: () => explainText(decision, { locate: settings.locate, subject: factsOf(subject), unavailable, place }),
    };
  };

  type Folders = Pick<ReturnType<Catalog["surroundings"]>, "workspace" | "agentWorkspace" | "inside">;
  const placeOf = (subject: Subject, config: Config): Folders => {
    const sandboxed = subject.sandboxed ? deps.sandboxPaths?.(subject) : undefined;
    return {
      workspace: sandboxed?.workspace ?? deps.workspaceOf(config, subject.agent),
      agentWorkspace: sandboxed?.agentWorkspace,
      inside: sandboxed?.inside,
    };
  };

  return {
    judge,
    rows(subject) {
      const names = [
        ...new Set([...coreTools.keys(), ...deps.plugins.flatMap(({ tools: own }) => own.map((tool) => tool.name))]),
      ];
      return names.map((name) => toRow(name, judge(subject, name)));
    },
    offered(subject) {
      // Judging one name first clears the cache when the config has changed.
      judge(subject, "read");
      const key = JSON.stringify([
        subject.agent,
        subject.model,
        subject.group,
        subject.sandboxed,
        subject.subagent,
        subject.limits,
      ]);
      const known = offers.get(key);
      if (known !== undefined) return known;
      const offer = deps.tools.flatMap((tool): OfferedTool[] => {
        const { decision, unavailable } = judge(subject, tool.name);
        if (!decision.allowed || unavailable !== undefined) return [];
        return [
          { name: tool.name, summary: tool.summary, description: tool.description, parameters: forModel(tool.params) },
        ];
      });
      offers.set(key, offer);
      return offer;
    },
    effect(subject, name, args) {
      const tool = tools.get(canonicalName(name));
      if (tool === undefined) return undefined;
      const { config } = deps.settings();
      const workspace = deps.workspaceOf(config, subject.agent);
      try {
        const place = { config, workspace, workspaceOnly: true, senderIds: [], hints: {}, signal: idle };
        const call = { ...subject, ...place, id: "", turn: "", allows: () => false, progress: () => {} };
        return tool.intent(prepareArguments(tool, args), call).does;
      } catch {
        return undefined; // the arguments are not checked yet; the call itself reports what is wrong
      }
    },
    surroundings(subject) {
      const { config } = deps.settings();
      const own = agentConfig(config, subject.agent)?.tools?.fs?.workspaceOnly;
      return {
        config,
        ...placeOf(subject, config),
        workspaceOnly: own ?? config.tools?.fs?.workspaceOnly ?? false,
      };
    },
  };
}

function toRow(name: string, { decision, tool, unavailable, place, explain }: Verdict): CatalogRow {
  return {
    name,
    summary: tool?.summary ?? "",
    description: tool?.description ?? "",
    group: groupOf(name),
    source: "core",
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
    ...(subagent ? { "sub-agent": "yes" } : {}),
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
