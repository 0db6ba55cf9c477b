// The sessions_send tool: sends a message to another session and waits for the reply.
import { ToolError } from "../../core/error.ts";
import { Type } from "../../core/schema.ts";
import type { SessionMessages } from "../../session/session-messages.ts";
import { defineTool, json, nonBlank } from "../tool.ts";

const DEFAULT_SECONDS = 30;
/** The call itself ends after half an hour. */
const MAX_SECONDS = 1700;

export const createSessionsSend = (deps: { readonly sessionMessages: () => Pick<SessionMessages, "send"> }) =>
  defineTool({
    name: "sessions_send",
    summary: "Send a message to another session",
    description:
      "Send a message to the agent of another session, named by sessionKey, agentId or label, and wait for its reply.",
    params: Type.Object(
      {
        sessionKey: Type.Optional(
          nonBlank("Key from sessions_list, or agent:<agent id>:main for an agent's main session."),
        ),
        label: Type.Optional(nonBlank("Label of the session, instead of sessionKey.")),
        agentId: Type.Optional(nonBlank("Agent whose main session gets it, instead of sessionKey.")),
        message: nonBlank("Text of the message."),
        timeoutSeconds: Type.Optional(
          Type.Number({
            minimum: 0,
            description: `Seconds to wait for the reply (default ${DEFAULT_SECONDS}; 0 returns immediately).`,
          }),
        ),
      },
      { additionalProperties: false },
    ),
    prepare: ({ sessionId, ...rest }) => (sessionId === undefined ? rest : { sessionKey: sessionId, ...rest }),
    intent: ({ sessionKey, label, agentId }) => ({ does: "send", to: sessionKey ?? label ?? agentId ?? "" }),
    async run(
      { sessionKey, label, agentId, message, timeoutSeconds = DEFAULT_SECONDS },
      { agent, session, sandboxed, signal },
    ) {
      if (sessionKey === undefined && label === undefined && agentId === undefined)
        throw new ToolError("tool.bad-arguments", 'sessions_send: missing "sessionKey"', {
          hint: "name the session by sessionKey, agentId or label; sessions_list shows them",
        });
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
