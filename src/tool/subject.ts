// Who a tool call is for: agent, session, model and chat, from the session key and what the caller may add.
import { groupOfKey, isSubagentKey, parseAgentId, parseSessionKey, sessionKindOf } from "../core/names.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import { OpenClawError } from "../core/error.ts";
import { nearest } from "../core/nearest.ts";
import { agentConfig, agentIds, agentOfSession, defaultAgentId, mainKeyOf } from "../config/agents.ts";
import type { Config } from "../config/schema/index.ts";
import { groupPolicy } from "./policy/group.ts";
import type { CallLimit, GroupContext } from "./policy/shape.ts";

export interface Subject {
  readonly agent: AgentId;
  readonly session: SessionKey;
  /** `provider/model` of the run. Without one, rules for a provider do not apply. */
  readonly model: string | undefined;
  readonly group: GroupContext | undefined;
  readonly sandboxed: boolean;
  readonly subagent: boolean;
  /** Limits that come with the call itself: the list of a job, the tools of the agent that started a subagent. */
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
  /** The chat that a caller claims beside the session key; it can only remove tools. */
  readonly claimed?: { readonly channel?: string | undefined; readonly accountId?: string | undefined } | undefined;
  /** Asked about, not claimed: `tools explain --sandboxed`. Callers of tools cannot set it. */
  readonly sandboxed?: boolean | undefined;
}

/** Throws for unknown agents and malformed keys; creates nothing (docs/decisions/0031-unknown-agent-creates-nothing.md). */
export function subjectOf(request: SubjectRequest, config: Config): Subject {
  const named = request.agentId === undefined ? undefined : parseAgentId(request.agentId);
  const context = { defaultAgent: defaultAgentId(config), mainKey: mainKeyOf(config) };
  const session = parseSessionKey(request.sessionKey ?? "main", context, named);
  const agent = agentOfSession(session, config);
  if (named !== undefined && named !== agent) {
    throw new OpenClawError("session.other-agent", `session ${session} belongs to agent ${agent}, not ${named}`, {
      hint: `leave out the agent, or use agent:${named}:main`,
    });
  }
  requireAgent(agent, config);
  const group = groupFor(request, session);
  const limits = limitsOfClaim(request.claimed, group, config);
  return {
    agent,
    session,
    model: request.model,
    group,
    sandboxed: request.sandboxed ?? isSandboxed(agent, session, config),
    subagent: isSubagentKey(session),
    ...(limits.length === 0 ? {} : { limits }),
  };
}

/** Tools whose gateway methods require operator.admin; calling them as tools requires it too. */
const adminTools = ["gateway", "cron"];

/** The same call by a client without operator.admin. */
export function withoutAdmin(subject: Subject): Subject {
  const limit = { path: "a client without operator.admin", deny: adminTools };
  return { ...subject, limits: [...(subject.limits ?? []), limit] };
}

function requireAgent(agent: AgentId, config: Config): void {
  const known = agentIds(config);
  if (known.includes(agent)) return;
  const near = nearest(agent, known);
  throw new OpenClawError("agent.unknown", `there is no agent "${agent}"; known: ${known.join(", ")}`, {
    hint: near === undefined ? "add it under agents.list in the config" : `did you mean ${near}?`,
    details: { known },
  });
}

function groupFor(request: SubjectRequest, session: SessionKey): GroupContext | undefined {
  // The chat in the session key wins; the request can name one only if the key has none.
  const fromKey = groupOfKey(session);
  const channel = (fromKey?.channel ?? request.channel)?.toLowerCase();
  const groupId = fromKey?.id ?? request.groupId;
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

/** The rules of the claimed chat apply in addition to those of the session's own chat. */
function limitsOfClaim(
  claimed: SubjectRequest["claimed"],
  group: GroupContext | undefined,
  config: Config,
): readonly CallLimit[] {
  if (group === undefined || (claimed?.channel ?? claimed?.accountId) === undefined) return [];
  const { channel = group.channel, accountId } = claimed ?? {};
  const policy = groupPolicy(config, { ...group, channel, accountId });
  if (policy === undefined) return [];
  const { path, lists } = policy;
  const allow =
    lists.allow === undefined || lists.allow.length === 0 ? [] : [...lists.allow, ...(lists.alsoAllow ?? [])];
  return [{ path, allow, deny: lists.deny }];
}

function isSandboxed(agent: AgentId, session: SessionKey, config: Config): boolean {
  const mode = agentConfig(config, agent)?.sandbox?.mode ?? config.agents?.defaults?.sandbox?.mode ?? "off";
  if (mode === "off") return false;
  return mode === "all" || sessionKindOf(session, mainKeyOf(config)) !== "main";
}
