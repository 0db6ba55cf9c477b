// POST /v1/chat/completions: an agent's turn in the shape OpenAI clients speak, streamed or whole.
import type { IncomingMessage, ServerResponse } from "node:http";

import type { RunOutcome } from "../../core/event.ts";
import { newId } from "../../base/ids.ts";
import type { Agents } from "../../agent/agent.ts";
import type { TurnRequest } from "../../session/turns.ts";
import { requireSend } from "../../session/send-policy.ts";
import type { GatewayContext } from "../context.ts";
import { sendError, sendJson } from "./answer.ts";
import { failureStatus, readJson, runTurn, sendHouseError, turnSubject, wholeTurn } from "./openai-turn.ts";
import { openEventStream } from "./sse.ts";

const MAX_BODY = 20_000_000;

export async function completeChat(
  request: IncomingMessage,
  response: ServerResponse,
  context: GatewayContext,
  agents: Agents,
): Promise<void> {
  const body = await readJson(request, response, MAX_BODY);
  if (body === undefined) return;
  const said = conversationOf(body["messages"]);
  if (said === undefined)
    return sendError(response, 400, "invalid_request_error", "Missing user message in `messages`.");
  try {
    const { session } = turnSubject(request, body, context);
    await requireSend(context.store.sessions, session, context.config());
    const turn: TurnRequest = { runId: newId(), sessionKey: session, ...said, source: "http", authorised: false };
    const model = typeof body["model"] === "string" ? body["model"] : "openclaw";
    const head = { id: `chatcmpl_${turn.runId}`, created: Math.floor(context.clock.now() / 1000), model };
    if (body["stream"] === true) return await stream(response, agents, turn, head, wantsUsage(body));
    const outcome = await wholeTurn(response, agents, turn);
    if (outcome === undefined) return;
    sendJson(response, 200, {
      ...head,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: outcome.silent ? "" : outcome.text },
          finish_reason: "stop",
        },
      ],
      usage: usageOf(outcome),
    });
  } catch (error) {
    sendHouseError(response, error, context);
  }
}

async function stream(
  response: ServerResponse,
  agents: Agents,
  turn: TurnRequest,
  head: object,
  withUsage: boolean,
): Promise<void> {
  const out = openEventStream(response);
  const chunk = (delta: object, finish: string | null): void =>
    out.send({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
  chunk({ role: "assistant", content: "" }, null);
  let sent = "";
  const outcome = await runTurn(agents, turn, out.gone, ({ body }) => {
    if (body.stream !== "assistant") return;
    sent += body.delta;
    chunk({ content: body.delta }, null);
  });
  const failure = failureStatus(outcome);
  if (failure !== undefined) out.send({ error: { message: failure.message, type: failure.type, code: failure.code } });
  else {
    if (sent === "" && outcome.text !== "" && !outcome.silent) chunk({ content: outcome.text }, null);
    chunk({}, "stop");
    if (withUsage) out.send({ ...head, object: "chat.completion.chunk", choices: [], usage: usageOf(outcome) });
  }
  out.done();
}

function wantsUsage(body: Record<string, unknown>): boolean {
  const options = body["stream_options"];
  return (
    typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true
  );
}

function usageOf({ usage }: RunOutcome): object {
  const prompt = (usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
  const completion = usage?.output ?? 0;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage?.cacheRead ?? 0 },
  };
}

/** System and developer words go to the prompt, the last user message is the turn, what is before it is context. */
function conversationOf(messages: unknown): Pick<TurnRequest, "text" | "extraSystem" | "history"> | undefined {
  if (!Array.isArray(messages)) return undefined;
  const parsed = messages.flatMap((message: unknown) => {
    if (typeof message !== "object" || message === null) return [];
    const { role, content } = message as { role?: unknown; content?: unknown };
    return typeof role === "string" ? [{ role, text: textOfContent(content) }] : [];
  });
  const last = parsed.findLastIndex(({ role, text }) => role === "user" && text.trim() !== "");
  if (last < 0) return undefined;
  const system = parsed.filter(({ role }) => role === "system" || role === "developer").map(({ text }) => text);
  const history = parsed
    .slice(0, last)
    .flatMap(({ role, text }) =>
      role === "user" || role === "assistant" ? [{ role: role as "user" | "assistant", text }] : [],
    );
  return {
    text: parsed[last]?.text ?? "",
    ...(system.length === 0 ? {} : { extraSystem: system.join("\n\n") }),
    ...(history.length === 0 ? {} : { history }),
  };
}

export function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part: unknown) => {
      if (typeof part !== "object" || part === null || !("text" in part)) return [];
      return typeof part.text === "string" ? [part.text] : [];
    })
    .join("\n");
}
