// Creates a subagent: checks the request, then builds its session, its first turn and its record.
import type { ThinkingLevel } from "../../core/thinking-level.ts";
import { isSubagentKey, parseAgentId, type AgentId, type SessionKey } from "../../core/names.ts";
import { newId } from "../../base/ids.ts";
import { agentConfig, agentIds } from "../../config/agents.ts";
import type { Config } from "../../config/schema/index.ts";
import type { ModelRef } from "../../model/model.ts";
import type { ChildBody, SpawnRequest } from "../../session/subagents.ts";
import { routeOf } from "../../session/route.ts";
import { newSession, type SessionEntry } from "../../session/session.ts";
import type { TurnRequest } from "../../session/turns.ts";
import type { ChildRecord, SessionRecord } from "../../store/store.ts";
import { subjectOf } from "../../tool/subject.ts";

/** The longest delay of setTimeout, 24 days. */
export const NO_LIMIT_MS = 2 ** 31 - 1;

export interface NewSubagent {
  readonly record: ChildRecord;
  readonly session: SessionRecord;
  readonly turn: TurnRequest;
}

/** The agent to run as, or the reason why not. */
export function targetOf(request: SpawnRequest, config: Config): { agent: AgentId } | { error: string } {
  const { requester } = request;
  if (isSubagentKey(requester.session)) return { error: "sessions_spawn is not allowed from a subagent session" };
  const agent =
    request.agentId === undefined || request.agentId.trim() === "" ? requester.agent : parseAgentId(request.agentId);
  const allowed = (agentConfig(config, requester.agent)?.subagents?.allowAgents ?? [])
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "");
  const permitted = agent === requester.agent || allowed.includes("*") || allowed.includes(agent);
  if (!permitted)
    return { error: `agentId is not allowed for sessions_spawn (allowed: ${allowed.join(", ") || "none"})` };
  if (!agentIds(config).includes(agent)) return { error: `there is no agent "${agent}" in the config (agents.list)` };
  const { sandboxed } = subjectOf({ sessionKey: childKeyOf(agent, "probe") }, config);
  if (requester.sandboxed && !sandboxed)
    return { error: `a sandboxed session may not start agent "${agent}", which is not sandboxed` };
  return { agent };
}

export interface Choices {
  readonly agent: AgentId;
  readonly model: ModelRef | undefined;
  readonly thinking: ThinkingLevel | undefined;
  readonly requester: SessionRecord | undefined;
  readonly untrusted: boolean;
}

export function newSubagent(request: SpawnRequest, choices: Choices, now: number): NewSubagent {
  const { agent, model, thinking, requester } = choices;
  const trust = choices.untrusted ? { untrusted: true as const } : {};
  const runId = newId();
  const childKey = childKeyOf(agent, newId());
  const { runTimeoutSeconds = 0, cleanup = "keep", task } = request;
  const label = request.label?.trim().slice(0, 64).toWellFormed();
  const entry: SessionEntry = {
    ...(model === undefined ? {} : { providerOverride: model.provider, modelOverride: model.id }),
    ...(thinking === undefined ? {} : { thinkingLevel: thinking }),
    toolsAllow: request.tools,
  };
  const session: SessionRecord = {
    ...newSession(childKey, now, entry),
    ...(label === undefined || label === "" ? {} : { label }),
    spawnedBy: request.requester.session,
  };
  const route = routeOf(requester);
  const body: ChildBody = {
    task: task.slice(0, 4000).toWellFormed(),
    agentId: agent,
    ...(label === undefined || label === "" ? {} : { label }),
    ...(model === undefined ? {} : { model: `${model.provider}/${model.id}` }),
    cleanup,
    runTimeoutSeconds,
    sessionId: session.sessionId,
    ...(route === undefined ? {} : { route }),
    telling: "turn",
    ...trust,
  };
  return {
    session,
    record: { runId, childKey, requesterKey: request.requester.session, state: "running", createdAt: now, body },
    turn: {
      runId,
      sessionKey: childKey,
      text: task,
      source: "sessions_spawn",
      authorised: false,
      ...trust,
      timeoutMs: runTimeoutSeconds === 0 ? NO_LIMIT_MS : Math.min(runTimeoutSeconds * 1000, NO_LIMIT_MS),
    },
  };
}

const childKeyOf = (agent: AgentId, id: string): SessionKey => `agent:${agent}:subagent:${id}` as SessionKey;
