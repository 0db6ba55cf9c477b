// Health, status, presence, logs and restarts.
import { Type } from "../../core/schema.ts";
import { closed, method, optional, returns, uncheckedMethod } from "../method.ts";

export const health = uncheckedMethod("health", "operator.read", returns<Health>());
export const status = uncheckedMethod("status", "operator.read", returns<GatewayStatus>());
export const systemPresence = uncheckedMethod("system-presence", "operator.read", returns<readonly PresenceEntry[]>());
export const systemEvent = uncheckedMethod("system-event", "operator.admin", returns<{ readonly ok: true }>());
export const logsTail = method(
  "logs.tail",
  "operator.read",
  Type.Object(
    {
      cursor: optional(Type.Integer({ minimum: 0 })),
      limit: optional(Type.Integer({ minimum: 1, maximum: 5000 })),
      maxBytes: optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    },
    closed,
  ),
  returns<LogTail>(),
);
/** Ours: the system events that a session reads at the start of its next turn. */
export const systemEventsList = method(
  "system-events.list",
  "operator.read",
  Type.Object({ sessionKey: optional(Type.String({ minLength: 1, maxLength: 500 })) }, closed),
  returns<{ readonly sessionKey: string; readonly events: readonly SystemEvent[] }>(),
);
/** Ours: restart in place, for `openclaw gateway restart`. */
export const gatewayRestart = method(
  "gateway.restart",
  "operator.admin",
  Type.Object(
    {
      delayMs: optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
      reason: optional(Type.String({ maxLength: 200 })),
    },
    closed,
  ),
  returns<{ readonly ok: true; readonly pid: number; readonly delayMs: number }>(),
);

/** A risk the owner should know about, and the command that changes it. */
export interface Caution {
  readonly text: string;
  readonly fix: string;
}

export interface Health {
  readonly ok: boolean;
  readonly ts: number;
  readonly durationMs: number;
  readonly channels: Readonly<Record<string, unknown>>;
  readonly channelOrder: readonly string[];
  readonly channelLabels: Readonly<Record<string, string>>;
  readonly heartbeatSeconds: number;
  readonly defaultAgentId: string;
  /** Empty for clients without `operator.read`. */
  readonly agents: readonly AgentHealth[];
  readonly sessions: SessionFigures;
  readonly sandbox?: SandboxHealth;
  /** Why the config on disk is not in force; absent when it is. */
  readonly trouble?: string;
  /** Present when the approvals file is missing or unreadable. */
  readonly approvals?: { readonly caution: Caution };
  /** MCP servers whose tools changed since they were approved; absent when there are none. */
  readonly mcp?: { readonly cautions: readonly Caution[] };
  /** Present when the store is damaged or its disk is full. */
  readonly store?: { readonly ok: false; readonly problem: string };
  /** With `probe` only. */
  readonly loopDelayP99Ms?: number;
  readonly droppedLogLines?: number;
}

export interface AgentHealth {
  readonly agentId: string;
  readonly isDefault: boolean;
  readonly heartbeat: AgentHeartbeat;
  readonly sessions: SessionFigures;
}

export interface AgentHeartbeat {
  readonly enabled: boolean;
  readonly every: string;
  readonly everyMs: number;
  readonly prompt: string;
  readonly target: string;
  readonly ackMaxChars: number;
}

export interface SessionFigures {
  readonly path: string;
  readonly count: number;
  readonly recent: readonly { readonly key: string; readonly updatedAt: number; readonly age: number }[];
}

/** Of the default agent. */
export interface SandboxHealth {
  readonly agentId: string;
  readonly mode: string;
  /** Absent until a sandbox was started to find out (`probe`). */
  readonly works?: boolean;
  readonly caution?: Caution;
}

export interface GatewayStatus {
  readonly heartbeat: {
    readonly defaultAgentId: string;
    readonly agents: readonly {
      readonly agentId: string;
      readonly enabled: boolean;
      readonly every: string;
      readonly everyMs: number | null;
    }[];
  };
  readonly channelSummary: readonly unknown[];
  readonly queuedSystemEvents: readonly string[];
  readonly sessions: {
    readonly paths: readonly string[];
    readonly count: number;
    readonly defaults: { readonly model: string | null; readonly contextTokens: number | null };
    readonly recent: readonly StatusSessionRow[];
    readonly byAgent: readonly {
      readonly agentId: string;
      readonly path: string;
      readonly count: number;
      readonly recent: readonly StatusSessionRow[];
    }[];
  };
}

export interface StatusSessionRow {
  readonly agentId: string;
  readonly key: string;
  readonly kind: "direct";
  readonly sessionId: string;
  readonly updatedAt: number;
  readonly age: number;
  readonly totalTokens: number;
  readonly remainingTokens: number;
  readonly percentUsed: number;
  readonly model: string | null;
  readonly contextTokens: number;
  readonly flags: readonly string[];
}

export interface PresenceEntry {
  readonly host: string;
  readonly ip?: string;
  readonly version: string;
  readonly platform: string;
  readonly deviceFamily?: string;
  readonly modelIdentifier?: string;
  readonly mode: string;
  readonly reason: string;
  readonly text: string;
  readonly ts: number;
  readonly deviceId?: string;
  readonly instanceId?: string;
  readonly roles?: readonly string[];
  readonly scopes?: readonly string[];
  readonly tags?: readonly string[];
  readonly lastInputSeconds?: number;
}

export interface LogTail {
  readonly file: string;
  readonly cursor: number;
  readonly size: number;
  readonly lines: readonly string[];
  /** Older lines exist that were not sent. */
  readonly truncated: boolean;
  /** The file is shorter than the cursor: a new file began. */
  readonly reset: boolean;
}

/** A note that an agent reads at the start of its next turn. */
export interface SystemEvent {
  readonly id: string;
  readonly at: number;
  readonly text: string;
  /** Starts its own turn, also after a restart. */
  readonly wakes?: true;
  /** Other people or programs wrote it: a turn that it starts is untrusted. */
  readonly untrusted?: true;
  /** This event replaces so many that were dropped. */
  readonly left?: number;
}
