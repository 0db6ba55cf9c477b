// Messages to agents: every turn is posted to the inbox, and results come from its run.
import { parseThinkingLevel, thinkingLevels, type ThinkingLevel } from "../../core/thinking-level.ts";
import { OpenClawError } from "../../core/error.ts";
import { parseSessionKey, type SessionKey } from "../../core/names.ts";
import type { RunOutcome } from "../../core/event.ts";
import { refusalTexts } from "../../protocol/refusal.ts";
import * as methods from "../../protocol/methods/chat.ts";
import type { Agents } from "../../agent/agent.ts";
import type { TurnRequest } from "../../session/turns.ts";
import { defaultAgentId, mainKeyOf } from "../../config/agents.ts";
import { requireSend } from "../../session/send-policy.ts";
import { newSession } from "../../session/session.ts";
import { subjectOf } from "../../tool/subject.ts";
import { holdsScope } from "../../protocol/scope.ts";
import { mayApprove } from "../approval-events.ts";
import type { Client } from "../client.ts";
import type { GatewayContext } from "../context.ts";
import { answerTwice, serve, type Served } from "../dispatch.ts";
import { answererOf } from "./approvals.ts";
import { readAttachments } from "./attachments.ts";

const MAX_WAIT_MS = 24 * 3_600_000;

export function chatMethods(context: GatewayContext, agents: Agents): Served[] {
  const { store } = context;
  const keyOf = (raw: string): SessionKey => subjectOf({ sessionKey: raw }, context.config()).session;

  return [
    serve(methods.chatSend)(async (params, client) => {
      if (params.message.trim() === "" && (params.attachments ?? []).length === 0)
        throw invalid("message or attachment required");
      const sessionKey = keyOf(params.sessionKey);
      await requireSend(store.sessions, sessionKey, context.config());
      const receipt = await agents.post({
        runId: params.idempotencyKey,
        sessionKey,
        text: params.message,
        ...(await readAttachments(params.attachments, context)),
        source: client.info.mode === "cli" ? "cli" : "chat",
        authorised: true,
        ...approverOf(client),
        ...thinkingOf(params.thinking),
        ...(params.timeoutMs === undefined || params.timeoutMs === 0 ? {} : { timeoutMs: params.timeoutMs }),
        stamp: true,
      });
      if (receipt.fresh) return { runId: receipt.runId, status: "started" };
      return { runId: receipt.runId, status: receipt.outcome === undefined ? "in_flight" : receipt.outcome.status };
    }),
    serve(methods.chatAbort)(async ({ sessionKey, runId }) => {
      const key = keyOf(sessionKey);
      const runIds = await agents.abort({ sessionKey: key, runId }, "rpc");
      if (runId === undefined || runIds.length > 0) await context.approvals.withdrawAll(key, "its turn was stopped");
      return { ok: true, aborted: runIds.length > 0, runIds };
    }),
    serve(methods.agent)(async (params, client) => {
      if (params.extraSystemPrompt !== undefined && !holdsScope(client.scopes, "operator.admin"))
        throw invalid(
          refusalTexts.missingScope("operator.admin (extraSystemPrompt changes the instructions of the agent)"),
        );
      const sessionKey = await sessionFor(context, params);
      await requireSend(store.sessions, sessionKey, context.config());
      if (params.label !== undefined) await setLabel(context, sessionKey, params.label);
      const turn: TurnRequest = {
        runId: params.idempotencyKey,
        sessionKey,
        text: params.message,
        ...(await readAttachments(params.attachments, context)),
        source: "agent",
        authorised: true,
        ...approverOf(client),
        ...thinkingOf(params.thinking),
        ...modelOf(params.model),
        ...(params.extraSystemPrompt === undefined ? {} : { extraSystem: params.extraSystemPrompt }),
        ...(params.timeout === undefined || params.timeout === 0 ? {} : { timeoutMs: params.timeout * 1000 }),
        stamp: true,
      };
      const { runId, acceptedAt, outcome } = await agents.post(turn);
      const later = outcome === undefined ? agents.wait(runId, MAX_WAIT_MS) : Promise.resolve(outcome);
      return answerTwice<methods.AgentAccepted | methods.AgentReply>(
        { runId, status: "accepted", acceptedAt },
        later.then(toAgentReply),
      );
    }),
    serve(methods.agentWait)(async ({ runId, timeoutMs = 30_000 }, _client, signal) => {
      const outcome = await agents.wait(runId, timeoutMs, signal);
      if (outcome === undefined) return { runId, status: "timeout" };
      const { status, startedAt, endedAt, failure } = outcome;
      return {
        runId,
        status: status === "ok" ? "ok" : "error",
        startedAt,
        endedAt,
        ...(status === "ok" ? {} : { error: failure?.message ?? status }),
      };
    }),
    serve(methods.sessionsCompact)(async ({ key: raw }) => {
      const key = keyOf(raw);
      const { compacted, kept, note } = await agents.compact(key);
      return { ok: true, key, compacted, kept, note };
    }),
  ];
}

async function sessionFor(
  { store, clock, config: current }: GatewayContext,
  { sessionKey, sessionId, agentId }: { sessionKey?: string; sessionId?: string; agentId?: string },
): Promise<SessionKey> {
  const config = current();
  if (sessionKey !== undefined && sessionKey !== "") return subjectOf({ sessionKey, agentId }, config).session;
  if (sessionId === undefined || sessionId === "") return subjectOf({ agentId }, config).session;
  const known = await store.sessions.byId(sessionId);
  if (known !== undefined) return known.key;
  // An unknown session id starts a session with that id and a key of the same name.
  const keys = { defaultAgent: defaultAgentId(config), mainKey: mainKeyOf(config) };
  const { session } = subjectOf(
    { sessionKey: parseSessionKey(sessionId, keys, subjectOf({ agentId }, config).agent) },
    config,
  );
  await store.sessions.update(session, (before) => before ?? { ...newSession(session, clock.now()), sessionId });
  return session;
}

async function setLabel({ store, clock }: GatewayContext, key: SessionKey, label: string): Promise<void> {
  await store.sessions.update(key, (current) => ({ ...(current ?? newSession(key, clock.now())), label }));
}

/** The second response to `agent`; a failed run is an error (docs/decisions/0030-failures-are-errors.md). */
export function toAgentReply(outcome: RunOutcome | undefined): methods.AgentReply {
  if (outcome === undefined)
    throw new OpenClawError("run.unknown", "the run did not end in time", { hint: "openclaw gateway call agent.wait" });
  const { runId, status, failure, text, silent, startedAt, endedAt, sessionId, provider, model, usage } = outcome;
  if (status === "error")
    throw new OpenClawError(failure?.code ?? "run.failed", failure?.message ?? "the run failed", {
      hint: failure?.hint,
      details: { runId },
    });
  return {
    runId,
    status: status === "ok" ? "ok" : "error",
    summary: status === "ok" ? "completed" : "aborted",
    result: {
      payloads: silent || text === "" ? [] : [{ text, mediaUrl: null }],
      meta: {
        durationMs: endedAt - startedAt,
        agentMeta: {
          sessionId,
          provider: provider ?? null,
          model: model ?? null,
          ...(usage === undefined
            ? {}
            : { usage: { input: usage.input, output: usage.output, total: usage.totalTokens } }),
        },
        aborted: status === "aborted",
      },
    },
  };
}

/** `/approve` works only for clients that hold `operator.approvals` (test/attack/README.md, APR-017). */
function approverOf(client: Client): Pick<TurnRequest, "approver" | "admin"> {
  return {
    ...(mayApprove(client) ? { approver: answererOf(client) } : {}),
    // Chat commands that change settings need the scope of the methods behind them (test/attack/README.md, GWY-045).
    ...(holdsScope(client.scopes, "operator.admin") ? { admin: true } : {}),
  };
}

function thinkingOf(raw: string | undefined): { thinking?: ThinkingLevel } {
  if (raw === undefined || raw === "") return {};
  const thinking = parseThinkingLevel(raw);
  if (thinking !== undefined) return { thinking };
  throw invalid(`invalid thinking (use ${thinkingLevels.join("|")})`);
}

function modelOf(raw: string | undefined): Pick<TurnRequest, "model"> {
  if (raw === undefined) return {};
  const slash = raw.indexOf("/");
  if (slash <= 0) throw invalid("model must be provider/model");
  return { model: { provider: raw.slice(0, slash), id: raw.slice(slash + 1) } };
}

function invalid(message: string): OpenClawError {
  return new OpenClawError("wire.invalid-request", message);
}
