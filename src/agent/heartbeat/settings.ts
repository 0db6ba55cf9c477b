// Heartbeat settings of the config: which agents, how often, which session, which prompt.
import { configDurationMs } from "../../base/duration.ts";
import { agentConfig, agentIds, defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import { OpenClawError } from "../../core/error.ts";
import { mainSessionKey, parseSessionKey, splitSessionKey, type AgentId, type SessionKey } from "../../core/names.ts";

type HeartbeatConfig = NonNullable<NonNullable<NonNullable<Config["agents"]>["defaults"]>["heartbeat"]>;

export interface HeartbeatSettings {
  readonly agentId: AgentId;
  /** As written. */
  readonly every: string;
  /** 0 means off. */
  readonly everyMs: number;
  readonly session: SessionKey;
  readonly prompt: string;
  readonly model: string | undefined;
  /** `last`, `none` or a channel. */
  readonly target: string;
  readonly to: string | undefined;
  readonly accountId: string | undefined;
  readonly ackMaxChars: number;
  readonly includeReasoning: boolean;
  readonly activeHours: HeartbeatConfig["activeHours"];
}

export const HEARTBEAT_PROMPT =
  "[heartbeat] This is a regular check. If HEARTBEAT.md is among the workspace files, do what it says and nothing else; do not continue earlier conversations. If nothing needs the person's attention, answer exactly HEARTBEAT_OK.";

/** Whether the agent uses an Anthropic subscription, which is asked less often. */
export type UsesSubscription = (agentId: AgentId) => boolean;

/** The agents with heartbeats: those with their own block if there is any, else the default agent. */
export function beatingAgents(config: Config, usesSubscription: UsesSubscription): HeartbeatSettings[] {
  return agentIds(config)
    .filter((id) => mayBeat(config, id))
    .map((id) => heartbeatSettings(config, id, usesSubscription))
    .filter(isBeating);
}

export function isBeating({ everyMs }: HeartbeatSettings): boolean {
  return everyMs > 0 && Number.isFinite(everyMs);
}

export function mayBeat(config: Config, agentId: AgentId): boolean {
  const anyOwn = (config.agents?.list ?? []).some(({ heartbeat }) => heartbeat !== undefined);
  return anyOwn ? agentConfig(config, agentId)?.heartbeat !== undefined : agentId === defaultAgentId(config);
}

export function heartbeatSettings(
  config: Config,
  agentId: AgentId,
  usesSubscription: UsesSubscription,
): HeartbeatSettings {
  const own: HeartbeatConfig = {
    ...config.agents?.defaults?.heartbeat,
    ...withoutGaps(agentConfig(config, agentId)?.heartbeat ?? {}),
  };
  const every = own.every ?? (usesSubscription(agentId) ? "1h" : "30m");
  return {
    agentId,
    every,
    everyMs: atLeast(Math.round(configDurationMs(every))),
    session: sessionOf(config, agentId, own.session),
    prompt: own.prompt === undefined || own.prompt.trim() === "" ? HEARTBEAT_PROMPT : own.prompt,
    model: own.model,
    target: (own.target ?? "last").trim().toLowerCase(),
    to: own.to,
    accountId: own.accountId,
    ackMaxChars: own.ackMaxChars ?? 300,
    includeReasoning: own.includeReasoning ?? false,
    activeHours: own.activeHours,
  };
}

/** A lower bound, because agents may set the interval. */
const LEAST_MS = 1000;

const atLeast = (everyMs: number): number => (everyMs > 0 ? Math.max(LEAST_MS, everyMs) : everyMs);

/** The main session of the agent, or the configured one when it belongs to the agent. */
function sessionOf(config: Config, agentId: AgentId, requested: string | undefined): SessionKey {
  const mainKey = mainKeyOf(config);
  const main = config.session?.scope === "global" ? ("global" as SessionKey) : mainSessionKey(agentId, mainKey);
  if (requested === undefined || requested.trim() === "" || requested.trim().toLowerCase() === "main") return main;
  try {
    const key = parseSessionKey(requested, { defaultAgent: defaultAgentId(config), mainKey }, agentId);
    return key === "global" || splitSessionKey(key).agentId === agentId ? key : main;
  } catch (error) {
    if (error instanceof OpenClawError) return main;
    throw error;
  }
}

function withoutGaps<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<T>;
}
