// Resolves the memory settings of one agent: its own keys override the defaults of all agents.
import { join, resolve } from "node:path";

import type { AgentId } from "../core/names.ts";
import { expandTilde, type Paths } from "../base/paths.ts";
import { agentConfig, workspaceOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { ChunkSize } from "./chunk.ts";
import type { MemorySource } from "./memory.ts";

/** Settings of the index; plain values, so that they can be sent to the index thread. */
export interface IndexSettings {
  readonly agent: AgentId;
  readonly file: string;
  readonly workspace: string;
  /** Absolute. */
  readonly extraPaths: readonly string[];
  readonly chunking: ChunkSize;
  readonly watch: boolean;
  readonly debounceMs: number;
  /** 0: never. */
  readonly intervalMs: number;
}

export interface MemorySettings extends IndexSettings {
  readonly sources: readonly MemorySource[];
  readonly onSessionStart: boolean;
  readonly onSearch: boolean;
  readonly sessions: { readonly deltaBytes: number; readonly deltaMessages: number };
  readonly maxResults: number;
  readonly minScore: number | undefined;
  readonly hybrid: {
    readonly enabled: boolean;
    readonly vectorWeight: number;
    readonly textWeight: number;
    readonly candidateMultiplier: number;
  };
  readonly vector: {
    readonly useExtension: boolean;
    readonly extensionPath: string | undefined;
    readonly maxCached: number;
  };
  readonly citations: "auto" | "on" | "off";
}

export type SearchConfig = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["memorySearch"]>;

/** The agent's `memorySearch` over the one of all agents, key by key. */
export function searchConfig(config: Config, agent: AgentId): SearchConfig {
  return merge(config.agents?.defaults?.memorySearch, agentConfig(config, agent)?.memorySearch) as SearchConfig;
}

/** The configured provider; the one in use also depends on API keys. */
export function requestedProvider(config: Config, agent: AgentId): string {
  return searchConfig(config, agent).provider ?? "auto";
}

/** Why memory is disabled for this agent and how to enable it; undefined when it is enabled. */
export function disabledBy(
  config: Config,
  agent: AgentId,
): { readonly reason: string; readonly fix: string } | undefined {
  if (config.plugins?.slots?.memory === "none")
    return { reason: "plugins.slots.memory is none", fix: "openclaw config unset plugins.slots.memory" };
  if (searchConfig(config, agent).enabled !== false) return undefined;
  const own = agentConfig(config, agent)?.memorySearch?.enabled === false;
  return {
    reason: "memorySearch.enabled is false",
    fix: own
      ? `set memorySearch.enabled of agent ${agent} to true`
      : "openclaw config set agents.defaults.memorySearch.enabled true",
  };
}

export function memorySettings(config: Config, agent: AgentId, paths: Paths): MemorySettings {
  const { sources, sync, query, store, cache, chunking, experimental, extraPaths = [] } = searchConfig(config, agent);
  const workspace = workspaceOf(config, agent, paths);
  const hybrid = query?.hybrid;
  return {
    agent,
    file: indexFileOf(store?.path, agent, paths),
    workspace,
    extraPaths: extraPaths.map((path) => below(workspace, path, paths)),
    chunking: { tokens: chunking?.tokens ?? 400, overlap: chunking?.overlap ?? 80 },
    watch: sync?.watch ?? true,
    debounceMs: sync?.watchDebounceMs ?? 1500,
    intervalMs: (sync?.intervalMinutes ?? 0) * 60_000,
    sources: sourcesOf(sources, experimental?.sessionMemory === true),
    onSessionStart: sync?.onSessionStart ?? true,
    onSearch: sync?.onSearch ?? true,
    sessions: {
      deltaBytes: sync?.sessions?.deltaBytes ?? 100_000,
      deltaMessages: sync?.sessions?.deltaMessages ?? 50,
    },
    maxResults: query?.maxResults ?? 6,
    minScore: query?.minScore,
    hybrid: {
      enabled: hybrid?.enabled ?? true,
      vectorWeight: hybrid?.vectorWeight ?? 0.7,
      textWeight: hybrid?.textWeight ?? 0.3,
      candidateMultiplier: hybrid?.candidateMultiplier ?? 4,
    },
    vector: {
      useExtension: store?.vector?.enabled ?? true,
      extensionPath: store?.vector?.extensionPath,
      maxCached: cache?.enabled === false ? 0 : (cache?.maxEntries ?? 50_000),
    },
    citations: config.memory?.citations ?? "auto",
  };
}

/** The part of the settings that the index depends on. */
export function indexPart(settings: MemorySettings): IndexSettings {
  const { agent, file, workspace, extraPaths, chunking, watch, debounceMs, intervalMs } = settings;
  return { agent, file, workspace, extraPaths, chunking, watch, debounceMs, intervalMs };
}

function sourcesOf(asked: readonly string[] | undefined, sessionMemory: boolean): MemorySource[] {
  const wanted = asked ?? ["memory"];
  const all: readonly MemorySource[] = ["memory", "sessions"];
  return all.filter((source) => wanted.includes(source) && (source !== "sessions" || sessionMemory));
}

/** A shared path without `{agentId}` would mix the notes of agents, so the agent id is added to the file name. */
function indexFileOf(path: string | undefined, agent: AgentId, paths: Paths): string {
  if (path === undefined || path === "") return join(paths.state, "memory", `${agent}.sqlite`);
  const named = path.includes("{agentId}") ? path.replaceAll("{agentId}", agent) : withAgent(path, agent);
  return below(paths.state, named, paths);
}

function below(folder: string, path: string, { home }: Paths): string {
  return resolve(folder, expandTilde(path, home));
}

function withAgent(path: string, agent: AgentId): string {
  return path.endsWith(".sqlite") ? `${path.slice(0, -".sqlite".length)}.${agent}.sqlite` : `${path}.${agent}`;
}

function merge(below: unknown, above: unknown): unknown {
  if (above === undefined) return below ?? {};
  if (!isPlain(below) || !isPlain(above)) return above;
  const keys = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries([...keys].map((key) => [key, key in above ? merge(below[key], above[key]) : below[key]]));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
