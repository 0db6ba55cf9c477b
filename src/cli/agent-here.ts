// Runs one turn without a gateway: the same agents, opened in this process on the same state, under its lock.
import type { ThinkingLevel } from "../core/thinking-level.ts";
import { openAgents } from "../app/agents.ts";
import { openOffline } from "../app/offline.ts";
import type { RunEventBody } from "../core/event.ts";
import { textOf } from "../core/message.ts";
import type { SessionKey } from "../core/names.ts";
import type { Agents } from "../agent/agent.ts";
import type { TurnRequest } from "../session/turns.ts";
import type { Config } from "../config/schema/index.ts";
import { toAgentReply } from "../gateway/methods/chat.ts";
import type { AgentReply } from "../protocol/methods/chat.ts";
import { requireSend } from "../session/send-policy.ts";
import type { Store } from "../store/store.ts";
import { subjectOf } from "../tool/subject.ts";
import type { RunView } from "./chat/run-events.ts";
import { onInterrupt } from "./interrupt.ts";
import type { Io } from "./io.ts";
import { parseModelRef } from "./model-choice.ts";

export interface TurnHere {
  readonly runId: string;
  readonly message: string;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly thinking?: string | undefined;
  readonly model?: string | undefined;
  readonly timeoutMs: number;
}

/** The reply has the same shape as the gateway's. Throws the errors that the gateway would return. */
export async function askHere(io: Io, turn: TurnHere, show: (view: RunView) => void): Promise<AgentReply> {
  const runtime = await openOffline(io.env, io.profile);
  try {
    const { agents, sessions, services } = await openAgents(runtime);
    runtime.services.bind(services);
    try {
      const config = runtime.settings.now().config;
      const sessionKey = await keyOf(turn, config, runtime.store);
      await requireSend(runtime.store.sessions, sessionKey, config);
      return await runTurn(io, agents, requestOf(turn, sessionKey), show);
    } finally {
      sessions.close();
      await agents.close();
    }
  } finally {
    await runtime.close();
  }
}

async function keyOf({ sessionKey, sessionId, agentId }: TurnHere, config: Config, store: Store): Promise<SessionKey> {
  const known = sessionId === undefined ? undefined : await store.sessions.byId(sessionId);
  return known?.key ?? subjectOf({ sessionKey: sessionKey ?? sessionId, agentId }, config).session;
}

function requestOf({ runId, message, thinking, model, timeoutMs }: TurnHere, sessionKey: SessionKey): TurnRequest {
  return {
    runId,
    sessionKey,
    text: message,
    source: "cli",
    authorised: true,
    // Whoever can use this shell owns the state it works on.
    approver: { clientId: "cli", surface: "cli" },
    admin: true,
    stamp: true,
    timeoutMs,
    ...(thinking === undefined ? {} : { thinking: thinking as ThinkingLevel }),
    ...(model === undefined ? {} : { model: parseModelRef(model, ["agent"]) }),
  };
}

async function runTurn(
  io: Io,
  agents: Agents,
  request: TurnRequest,
  show: (view: RunView) => void,
): Promise<AgentReply> {
  const { runId, sessionKey } = request;
  const stopListening = agents.watch((event) => {
    const view = event.runId === runId ? viewOf(event.body) : undefined;
    if (view !== undefined) show(view);
  });
  const stopCatching = onInterrupt(() => {
    io.say("stopping; press Ctrl-C again to exit immediately");
    void agents.abort({ sessionKey, runId }, "cli");
  });
  try {
    await agents.post(request);
    return toAgentReply(await agents.wait(runId, (request.timeoutMs ?? 0) + GRACE_MS));
  } finally {
    stopCatching();
    stopListening();
  }
}

// The run stops itself at its timeout; its last writes may take a moment longer.
const GRACE_MS = 15_000;

function viewOf(body: RunEventBody): RunView | undefined {
  if (body.stream === "notice") return { kind: "notice", text: body.text };
  if (body.stream !== "tool") return undefined;
  const { name, toolCallId: id } = body;
  if (body.phase === "start") return { kind: "tool-start", id, name, args: body.args };
  if (body.phase !== "result") return undefined;
  return { kind: "tool-end", id, name, isError: body.isError, result: textOf(body.result.content) };
}
