// Sessions and agents as clients see them.
import { Type } from "../../core/schema.ts";
import { closed, method, noParams, nonEmpty, optional, returns } from "../method.ts";
import type { Message } from "../../core/message.ts";

const label = Type.String({ minLength: 1, maxLength: 64 });
const orNull = (schema: ReturnType<typeof Type.String>) => optional(Type.Union([schema, Type.Null()]));
const oneOf = (...words: string[]) => optional(Type.Union([...words.map((entry) => Type.Literal(entry)), Type.Null()]));

export const sessionsList = method(
  "sessions.list",
  "operator.read",
  Type.Object(
    {
      limit: optional(Type.Integer({ minimum: 1 })),
      activeMinutes: optional(Type.Integer({ minimum: 1 })),
      agentId: optional(nonEmpty),
      label: optional(label),
      search: optional(Type.String()),
      spawnedBy: optional(nonEmpty),
      includeGlobal: optional(Type.Boolean()),
      includeUnknown: optional(Type.Boolean()),
      includeDerivedTitles: optional(Type.Boolean()),
      includeLastMessage: optional(Type.Boolean()),
    },
    closed,
  ),
  returns<SessionList>(),
);

export const sessionsPreview = method(
  "sessions.preview",
  "operator.read",
  Type.Object(
    {
      keys: Type.Array(nonEmpty, { minItems: 1, maxItems: 200 }),
      limit: optional(Type.Integer({ minimum: 1 })),
      maxChars: optional(Type.Integer({ minimum: 20 })),
    },
    closed,
  ),
  returns<SessionPreviews>(),
);

export const sessionsResolve = method(
  "sessions.resolve",
  "operator.admin",
  Type.Object(
    {
      key: optional(nonEmpty),
      sessionId: optional(nonEmpty),
      label: optional(label),
      agentId: optional(nonEmpty),
      spawnedBy: optional(nonEmpty),
      includeGlobal: optional(Type.Boolean()),
      includeUnknown: optional(Type.Boolean()),
    },
    closed,
  ),
  returns<{ readonly ok: true; readonly key: string }>(),
  { announced: false },
);

export const sessionsPatch = method(
  "sessions.patch",
  "operator.admin",
  Type.Object(
    {
      key: nonEmpty,
      label: orNull(label),
      thinkingLevel: orNull(nonEmpty),
      verboseLevel: orNull(nonEmpty),
      reasoningLevel: orNull(nonEmpty),
      elevatedLevel: orNull(nonEmpty),
      responseUsage: oneOf("off", "on", "full", "tokens"),
      sendPolicy: oneOf("allow", "deny"),
      groupActivation: oneOf("mention", "always"),
      model: orNull(nonEmpty),
      spawnedBy: orNull(nonEmpty),
      execHost: orNull(nonEmpty),
      execSecurity: orNull(nonEmpty),
      execAsk: orNull(nonEmpty),
      execNode: orNull(nonEmpty),
    },
    closed,
  ),
  returns<PatchedSession>(),
);

export const sessionsReset = method(
  "sessions.reset",
  "operator.admin",
  Type.Object({ key: nonEmpty }, closed),
  returns<{ readonly ok: true; readonly key: string; readonly entry: StoredSession }>(),
);
export const sessionsDelete = method(
  "sessions.delete",
  "operator.admin",
  Type.Object({ key: nonEmpty, deleteTranscript: optional(Type.Boolean()) }, closed),
  returns<DeletedSession>(),
);

export const chatHistory = method(
  "chat.history",
  "operator.read",
  Type.Object({ sessionKey: nonEmpty, limit: optional(Type.Integer({ minimum: 1, maximum: 1000 })) }, closed),
  returns<ChatHistory>(),
);

export const agentsList = method("agents.list", "operator.read", noParams, returns<AgentList>());
export const agentIdentityGet = method(
  "agent.identity.get",
  "operator.read",
  Type.Object({ agentId: optional(nonEmpty), sessionKey: optional(Type.String()) }, closed),
  returns<{ readonly agentId: string; readonly name: string; readonly avatar: string }>(),
);

export const chatInject = method(
  "chat.inject",
  "operator.admin",
  Type.Object({ sessionKey: nonEmpty, message: nonEmpty, label: optional(Type.String({ maxLength: 100 })) }, closed),
  returns<{ readonly ok: true; readonly messageId: string }>(),
  { announced: false },
);

/** What a session stores beside its transcript. */
export interface SessionEntry {
  readonly chatType?: string;
  readonly channel?: string;
  readonly displayName?: string;
  readonly lastChannel?: string;
  readonly lastTo?: string;
  readonly deliveryContext?: unknown;
  readonly origin?: unknown;
  readonly modelProvider?: string;
  readonly model?: string;
  readonly providerOverride?: string;
  readonly modelOverride?: string;
  readonly contextTokens?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly thinkingLevel?: string;
  readonly verboseLevel?: string;
  readonly reasoningLevel?: string;
  readonly elevatedLevel?: string;
  readonly responseUsage?: string;
  readonly sendPolicy?: string;
  readonly groupActivation?: string;
  readonly queueMode?: string;
  readonly queueDebounceMs?: number;
  readonly queueCap?: number;
  readonly queueDrop?: string;
  readonly execHost?: string;
  readonly execSecurity?: string;
  readonly execAsk?: string;
  readonly execNode?: string;
  /** The tools of its requester: a subagent's turns get no others. */
  readonly toolsAllow?: readonly string[];
  readonly systemSent?: boolean;
  readonly abortedLastRun?: boolean;
  readonly compactionCount?: number;
  /** When notes were last written before a compaction, and how many compactions there had been. */
  readonly memoryFlushAt?: number;
  readonly memoryFlushCompactionCount?: number;
}

/** A row of `sessions.list`. */
export interface SessionRow extends Omit<SessionEntry, "toolsAllow"> {
  readonly key: string;
  readonly kind: "direct" | "group" | "global";
  readonly label?: string;
  readonly spawnedBy?: string;
  readonly updatedAt: number;
  readonly sessionId: string;
  readonly totalTokens: number;
  readonly lastMessagePreview?: string;
  readonly derivedTitle?: string;
}

export interface SessionList {
  readonly ts: number;
  readonly path: string;
  readonly count: number;
  readonly defaults: {
    readonly modelProvider: string | null;
    readonly model: string | null;
    readonly contextTokens: number | null;
  };
  readonly sessions: readonly SessionRow[];
}

export interface SessionPreviews {
  readonly ts: number;
  readonly previews: readonly {
    readonly key: string;
    readonly status: "ok" | "missing";
    readonly items: readonly { readonly role: string; readonly text: string }[];
  }[];
}

export interface StoredSession extends SessionEntry {
  readonly sessionId: string;
  readonly updatedAt: number;
  readonly label?: string;
  readonly spawnedBy?: string;
}

export interface PatchedSession {
  readonly ok: true;
  readonly path: string;
  readonly key: string;
  readonly entry: StoredSession;
  readonly resolved: Readonly<Record<string, never>>;
}

export interface DeletedSession {
  readonly ok: true;
  readonly key: string;
  readonly deleted: boolean;
  readonly archived: readonly string[];
}

/** `source` is set when no person typed the message, `unanswered` when it has no answer, `runId` for chat commands. */
export type HistoryMessage = Message & {
  readonly source?: string;
  readonly unanswered?: { readonly code: string; readonly message: string };
  readonly runId?: string;
};

export interface ChatHistory {
  readonly sessionKey: string;
  readonly sessionId?: string;
  readonly messages: readonly HistoryMessage[];
  readonly thinkingLevel: string;
  readonly verboseLevel?: string;
}

export interface AgentList {
  readonly defaultId: string;
  readonly mainKey: string;
  readonly scope: string;
  readonly agents: readonly AgentRow[];
}

export interface AgentRow {
  readonly id: string;
  readonly name?: string;
  readonly identity?: {
    readonly name?: string;
    readonly theme?: string;
    readonly emoji?: string;
    readonly avatar?: string;
    readonly avatarUrl?: string;
  };
}
