// Messages to an agent over the wire: send, abort, run, wait.
import { Type } from "../../core/schema.ts";
import { closed, method, nonEmpty, optional, returns } from "../method.ts";

const attachments = Type.Array(
  Type.Object({
    type: optional(Type.String()),
    mimeType: optional(Type.String()),
    fileName: optional(Type.String()),
    content: optional(Type.Unknown()),
  }),
  { maxItems: 20 },
);

export const chatSend = method(
  "chat.send",
  "operator.write",
  Type.Object(
    {
      sessionKey: nonEmpty,
      message: Type.String(),
      thinking: optional(Type.String()),
      deliver: optional(Type.Boolean()),
      attachments: optional(attachments),
      timeoutMs: optional(Type.Integer({ minimum: 0 })),
      idempotencyKey: nonEmpty,
    },
    closed,
  ),
  returns<ChatReceipt>(),
);

export const chatAbort = method(
  "chat.abort",
  "operator.write",
  Type.Object({ sessionKey: nonEmpty, runId: optional(nonEmpty) }, closed),
  returns<{ readonly ok: true; readonly aborted: boolean; readonly runIds: readonly string[] }>(),
);

export const agent = method(
  "agent",
  "operator.write",
  Type.Object(
    {
      message: nonEmpty,
      agentId: optional(nonEmpty),
      to: optional(Type.String()),
      replyTo: optional(Type.String()),
      sessionId: optional(Type.String()),
      sessionKey: optional(Type.String()),
      thinking: optional(Type.String()),
      deliver: optional(Type.Boolean()),
      attachments: optional(attachments),
      channel: optional(Type.String()),
      replyChannel: optional(Type.String()),
      accountId: optional(Type.String()),
      replyAccountId: optional(Type.String()),
      threadId: optional(Type.String()),
      groupId: optional(Type.String()),
      groupChannel: optional(Type.String()),
      groupSpace: optional(Type.String()),
      timeout: optional(Type.Integer({ minimum: 0 })),
      lane: optional(Type.String()),
      extraSystemPrompt: optional(Type.String()),
      idempotencyKey: nonEmpty,
      label: optional(Type.String({ minLength: 1, maxLength: 64 })),
      spawnedBy: optional(Type.String()),
      /** Ours. */
      model: optional(nonEmpty),
    },
    closed,
  ),
  returns<AgentAccepted | AgentReply>(),
);

export const agentWait = method(
  "agent.wait",
  "operator.write",
  Type.Object({ runId: nonEmpty, timeoutMs: optional(Type.Integer({ minimum: 0 })) }, closed),
  returns<AgentWait>(),
);

export const sessionsCompact = method(
  "sessions.compact",
  "operator.admin",
  Type.Object({ key: nonEmpty, maxLines: optional(Type.Integer({ minimum: 1 })) }, closed),
  returns<SessionCompaction>(),
);

export interface ChatReceipt {
  readonly runId: string;
  readonly status: "started" | "in_flight" | "ok" | "error" | "aborted";
}

/** The first of the two answers to `agent`. */
export interface AgentAccepted {
  readonly runId: string;
  readonly status: "accepted";
  readonly acceptedAt: number;
}

/** The second one, when the run has ended. */
export interface AgentReply {
  readonly runId: string;
  readonly status: "ok" | "error";
  readonly summary: "completed" | "aborted";
  readonly result: {
    readonly payloads: readonly { readonly text: string; readonly mediaUrl: string | null }[];
    readonly meta: {
      readonly durationMs: number;
      readonly agentMeta: {
        readonly sessionId: string;
        readonly provider: string | null;
        readonly model: string | null;
        readonly usage?: { readonly input: number; readonly output: number; readonly total: number };
      };
      readonly aborted: boolean;
    };
  };
}

export type AgentWait =
  | { readonly runId: string; readonly status: "timeout" }
  | {
      readonly runId: string;
      readonly status: "ok" | "error";
      readonly startedAt: number;
      readonly endedAt: number;
      readonly error?: string;
    };

export interface SessionCompaction {
  readonly ok: true;
  readonly key: string;
  readonly compacted: boolean;
  readonly kept?: number;
  readonly note?: string;
}
