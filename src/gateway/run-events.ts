// Run events on the wire: `agent` and `chat` frames in the recorded shapes, coalesced so that streaming stays cheap.
import type { RunEvent, RunOutcome } from "../core/event.ts";
import type { Clock } from "../base/clock.ts";
import type { Mask } from "../base/mask.ts";
import { redactValues } from "../base/redact-values.ts";
import { isAmong, type Hub } from "./hub.ts";

/** Text arrives in hundreds of pieces per second; a few dozen updates are enough for people. */
const AGENT_MS = 25;
const CHAT_MS = 120;

interface RunView {
  text: string;
  unsentDelta: string;
  lastAgentAt: number;
  lastChatAt: number;
  lastChatText: string;
  event: RunEvent;
}

/** Returns the listener for `agents.watch`. */
export function createRunEvents(hub: Hub, clock: Clock, mask: Mask): (event: RunEvent) => void {
  const views = new Map<string, RunView>();
  let timer: NodeJS.Timeout | undefined;

  const toAgent = (event: RunEvent, stream: string, data: unknown): object => ({
    runId: event.runId,
    stream,
    data,
    sessionKey: event.sessionKey,
    seq: event.seq,
    ts: event.ts,
  });
  const sendAgent = (event: RunEvent, stream: string, data: unknown): void =>
    hub.broadcast("agent", toAgent(event, stream, data));
  const sendChat = (event: RunEvent, body: object): void =>
    hub.broadcast("chat", { runId: event.runId, sessionKey: event.sessionKey, seq: event.seq, ...body });

  const flush = (view: RunView): void => {
    if (view.unsentDelta === "") return;
    const { sessionKey, runId, seq } = view.event;
    hub.stream("agent", toAgent(view.event, "assistant", { text: view.text, delta: view.unsentDelta }), sessionKey);
    view.unsentDelta = "";
    view.lastAgentAt = clock.ticks();
    if (view.lastAgentAt - view.lastChatAt < CHAT_MS || view.text === view.lastChatText) return;
    view.lastChatAt = view.lastAgentAt;
    view.lastChatText = view.text;
    const message = assistantMessage(view.text, view.event.ts);
    hub.stream("chat", { runId, sessionKey, seq, state: "delta", message }, sessionKey);
  };

  const onText = (event: RunEvent, text: string, delta: string): void => {
    const view = views.get(event.runId) ?? newView(event);
    views.set(event.runId, view);
    view.event = event;
    view.text = text;
    view.unsentDelta += delta;
    if (isDue(view) && !hub.isBehind()) flush(view);
    else timer ??= setTimeout(flushDue, AGENT_MS);
  };
  const isDue = (view: RunView): boolean => clock.ticks() - view.lastAgentAt >= AGENT_MS;
  /** Flushes all runs together, so that many clients get them in one write; delayed further while clients are behind. */
  const flushDue = (): void => {
    timer = undefined;
    const isBehind = hub.isBehind();
    for (const view of views.values()) {
      if (!isBehind && isDue(view)) flush(view);
      if (view.unsentDelta !== "") timer ??= setTimeout(flushDue, AGENT_MS);
    }
  };

  const onEnd = (event: RunEvent, outcome: RunOutcome): void => {
    const view = views.get(event.runId);
    if (view !== undefined) flush(view);
    views.delete(event.runId);
    const failed = outcome.status === "error";
    sendAgent(event, "lifecycle", {
      phase: failed ? "error" : "end",
      endedAt: outcome.endedAt,
      ...(failed ? { error: outcome.failure?.message ?? "failed" } : {}),
    });
    sendChat(event, endOf(outcome, event.ts));
  };

  return function onRunEvent(event) {
    const { body } = event;
    if (body.stream === "assistant") return onText(event, body.text, body.delta);
    const view = views.get(event.runId);
    // Text before a tool call or the end must be sent before it.
    if (view !== undefined) flush(view);
    if (body.stream === "lifecycle") {
      if (body.phase === "end") return onEnd(event, body.outcome);
      return sendAgent(event, "lifecycle", { phase: "start", startedAt: body.startedAt });
    }
    if (body.stream === "tool") return sendTool(event, hub, mask);
    if (body.stream === "thinking") return;
    const { stream, ...data } = body;
    sendAgent(event, stream, data);
  };
}

function newView(event: RunEvent): RunView {
  return {
    text: "",
    unsentDelta: "",
    lastAgentAt: -Infinity,
    lastChatAt: -Infinity,
    lastChatText: "",
    event,
  };
}

/** Tool events go to every client with `operator.read` that asked for them, at any verbose level (docs/decisions/0032-tool-events-by-capability.md), without a sequence number. */
function sendTool(event: RunEvent, hub: Hub, mask: Mask): void {
  const { body } = event;
  if (body.stream !== "tool") return;
  const { name, toolCallId } = body;
  const data =
    body.phase === "start"
      ? { phase: "start", name, toolCallId, args: body.args }
      : body.phase === "update"
        ? { phase: "update", name, toolCallId, partialResult: body.partial }
        : { phase: "result", name, toolCallId, meta: "", isError: body.isError, result: body.result };
  hub.sendSome(
    "agent",
    {
      runId: event.runId,
      stream: "tool",
      data: redactValues(data, mask),
      sessionKey: event.sessionKey,
      seq: event.seq,
      ts: event.ts,
    },
    (client) => client.caps.includes("tool-events") && isAmong(client, "operator.read"),
  );
}

function endOf(outcome: RunOutcome, ts: number): object {
  if (outcome.status === "aborted") return { state: "aborted", stopReason: "rpc" };
  if (outcome.status === "error") {
    return {
      state: "error",
      errorMessage: outcome.failure?.message ?? "failed",
      ...(outcome.failure === undefined ? {} : { error: outcome.failure }),
    };
  }
  if (outcome.silent) return { state: "final" };
  return { state: "final", message: { ...assistantMessage(outcome.text, ts), ...usageOf(outcome) } };
}

function usageOf({ provider, model, usage }: RunOutcome): object {
  return {
    stopReason: "stop",
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function assistantMessage(text: string, timestamp: number): { role: string; content: unknown[]; timestamp: number } {
  return { role: "assistant", content: [{ type: "text", text }], timestamp };
}
