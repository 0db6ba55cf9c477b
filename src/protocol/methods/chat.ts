// Talking to an agent over the wire: send, abort, run, wait.
import { Type } from "../../core/schema.ts";
import { closed, maybe, method, word } from "../method.ts";

const attachments = Type.Array(
  Type.Object({
    type: maybe(Type.String()),
    mimeType: maybe(Type.String()),
    fileName: maybe(Type.String()),
    content: maybe(Type.Unknown()),
  }),
  { maxItems: 20 },
);

export const chatSend = method(
  "chat.send",
  "operator.write",
  Type.Object(
    {
      sessionKey: word,
      message: Type.String(),
      thinking: maybe(Type.String()),
      deliver: maybe(Type.Boolean()),
      attachments: maybe(attachments),
      timeoutMs: maybe(Type.Integer({ minimum: 0 })),
      idempotencyKey: word,
    },
    closed,
  ),
);

export const chatAbort = method(
  "chat.abort",
  "operator.write",
  Type.Object({ sessionKey: word, runId: maybe(word) }, closed),
);

export const agent = method(
  "agent",
  "operator.write",
  Type.Object(
    {
      message: word,
      agentId: maybe(word),
      to: maybe(Type.String()),
      replyTo: maybe(Type.String()),
      sessionId: maybe(Type.String()),
      sessionKey: maybe(Type.String()),
      thinking: maybe(Type.String()),
      deliver: maybe(Type.Boolean()),
      attachments: maybe(attachments),
      channel: maybe(Type.String()),
      replyChannel: maybe(Type.String()),
      accountId: maybe(Type.String()),
      replyAccountId: maybe(Type.String()),
      threadId: maybe(Type.String()),
      groupId: maybe(Type.String()),
      groupChannel: maybe(Type.String()),
      groupSpace: maybe(Type.String()),
      timeout: maybe(Type.Integer({ minimum: 0 })),
      lane: maybe(Type.String()),
      extraSystemPrompt: maybe(Type.String()),
      idempotencyKey: word,
      label: maybe(Type.String({ minLength: 1, maxLength: 64 })),
      spawnedBy: maybe(Type.String()),
      /** Ours. */
      model: maybe(word),
    },
    closed,
  ),
);

export const agentWait = method(
  "agent.wait",
  "operator.write",
  Type.Object({ runId: word, timeoutMs: maybe(Type.Integer({ minimum: 0 })) }, closed),
);

export const sessionsCompact = method(
  "sessions.compact",
  "operator.admin",
  Type.Object({ key: word, maxLines: maybe(Type.Integer({ minimum: 1 })) }, closed),
);
