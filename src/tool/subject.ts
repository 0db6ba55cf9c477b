// Who a tool call is for: agent, session, model and chat, from the session key and what the caller may add.
import {
  groupOfKey,
  isSubagentKey,
  parseAgentId,
  parseSessionKey,
  sessionKindOf,
  splitSessionKey,
} from "../core/names.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import { HouseError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { agentConfig, agentIds, defaultAgentId, mainKeyOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import type { CallLimit, GroupContext } from "./policy/shape.ts";

export interface Subject {
  readonly agent: AgentId;
  readonly session: SessionKey;
  /** `provider/model` of the run. Without one, rules written for a provider do not apply. */
  readonly model: string | undefined;
  readonly group: GroupContext | undefined;
  readonly sandboxed: boolean;
  readonly subagent: boolean;
  /** What the call itself may not go beyond: a job's list, the tools of whoever started a sub-agent. */
  readonly limits?: readonly CallLimit[];
}

export interface SubjectRequest {
  readonly sessionKey?: string | undefined;
  readonly agentId?: string | undefined;
  readonly model?: string | undefined;
  readonly channel?: string | undefined;
  readonly accountId?: string | undefined;
  readonly groupId?: string | undefined;
  readonly guildId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly sender?: string | undefined;
  /** Asked about, not claimed: `tools explain --sandboxed`. Callers of tools cannot set it. */
  readonly sandboxed?: boolean | undefined;
}

/** Throws for unknown agents and malformed keys; creates nothing (ruling 31). */
export function subjectOf(request: SubjectRequest, config: Config): Subject {
  const named = request.agentId === undefined ? undefined : parseAgentId(request.agentId);
  const context = { defaultAgent: defaultAgentId(config), mainKey: mainKeyOf(config) };
  const session = parseSessionKey(request.sessionKey ?? "main", context, named);
  const agent = session === "global" || session === "unknown" ? context.defaultAgent : splitSessionKey(session).agentId;
  if (named !== undefined && named !== agent) {
    throw new HouseError("session.other-agent", `session ${session} belongs to agent ${agent}, not ${named}`, {
      hint: `leave out the agent, or use agent:${named}:main`,
    });
  }
  requireAgent(agent, config);
  return {
    agent,
    session,
    model: request.model,
    group: groupFor(request, session),
    sandboxed: request.sandboxed ?? isSandboxed(agent, session, config),
    subagent: isSubagentKey(session),
  };
}

function requireAgent(agent: AgentId, config: Config): void {
  const known = agentIds(config);
  if (known.includes(agent)) return;
  const near = nearest(agent, known);
  throw new HouseError("agent.unknown", `there is no agent "${agent}"; known: ${known.join(", ")}`, {
    hint: near === undefined ? "add it under agents.list in the config" : `did you mean ${near}?`,
    details: { known },
  });
}

function groupFor(request: SubjectRequest, session: SessionKey): GroupContext | undefined {
  const fromKey = groupOfKey(session);
  const channel = (request.channel ?? fromKey?.channel)?.toLowerCase();
  const groupId = request.groupId ?? fromKey?.id;
  if (channel === undefined || groupId === undefined) return undefined;
  return {
    channel,
    groupId,
    ...(request.accountId === undefined ? {} : { accountId: request.accountId }),
    ...(request.guildId === undefined ? {} : { guildId: request.guildId }),
    ...(request.teamId === undefined ? {} : { teamId: request.teamId }),
    senderIds: request.sender === undefined ? [] : [request.sender],
  };
}

function isSandboxed(agent: AgentId, session: SessionKey, config: Config): boolean {
  const mode = agentConfig(config, agent)?.sandbox?.mode ?? config.agents?.defaults?.sandbox?.mode ?? "off";
  if (mode === "off") return false;
  return mode === "all" || sessionKindOf(session, mainKeyOf(config)) !== "main";
}
