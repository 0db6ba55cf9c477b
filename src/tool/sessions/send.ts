// sessions_send: a message to another session, and on wish its answer.
import { Type } from "../../core/schema.ts";
import type { SessionMessages } from "../../session/session-messages.ts";
import { defineTool, json } from "../tool.ts";
import { blank } from "./blank.ts";

const DEFAULT_SECONDS = 30;
/** The call itself ends after half an hour. */
const MAX_SECONDS = 1700;

export const createSessionsSend = (deps: { readonly sessionMessages: () => Pick<SessionMessages, "send"> }) =>
  defineTool({
    name: "sessions_send",
    summary: "Send a message to another session",
    description: "Message another session's agent; waits 30 s for the reply, with timeoutSeconds 0 not at all.",
    params: Type.Object(
      {
        sessionKey: Type.Optional(Type.String({ minLength: 1, description: "key, main, or session id" })),
        label: Type.Optional(Type.String({ minLength: 1, description: "or: label of the session" })),
        agentId: Type.Optional(Type.String({ minLength: 1, description: "or: main session of this agent" })),
        message: Type.String({ minLength: 1 }),
        timeoutSeconds: Type.Optional(Type.Number({ minimum: 0 })),
      },
      { additionalProperties: false },
    ),
    prepare: ({ sessionId, ...rest }) => (sessionId === undefined ? rest : { sessionKey: sessionId, ...rest }),
    intent: ({ sessionKey, label, agentId }) => ({ does: "send", to: sessionKey ?? label ?? agentId ?? "" }),
    async run(
      { sessionKey, label, agentId, message, timeoutSeconds = DEFAULT_SECONDS },
      { agent, session, sandboxed, signal },
    ) {
      if (message.trim() === "") throw blank("sessions_send", "message");
      if (sessionKey === undefined && label === undefined && agentId === undefined)
        throw blank("sessions_send", "sessionKey");
      const answer = await deps.sessionMessages().send({
        from: { agent, session, sandboxed },
        to: sessionKey,
        label,
        agentId,
        message,
        timeoutMs: Math.min(timeoutSeconds, MAX_SECONDS) * 1000,
        signal,
      });
      return { ...json(answer), isError: answer.status === "error" || answer.status === "forbidden" };
    },
  });
