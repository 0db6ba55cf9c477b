// What the gateway answers to the methods this page calls, as types.
import type { ApprovalDecision, ApprovalRequested } from "../../src/protocol/approval.ts";

export interface WireFailure {
  readonly code: string;
  readonly message: string;
  readonly details?: unknown;
}

export interface PresenceEntry {
  readonly host?: string;
  readonly ip?: string;
  readonly version?: string;
  readonly platform?: string;
  readonly mode?: string;
  readonly reason?: string;
  readonly text?: string;
  readonly ts: number;
  readonly deviceId?: string;
  readonly roles?: readonly string[];
  readonly instanceId?: string;
}

export interface Health {
  readonly ok: boolean;
  readonly ts: number;
  readonly durationMs?: number;
  readonly channels?: Readonly<Record<string, unknown>>;
  readonly channelOrder?: readonly string[];
  readonly channelLabels?: Readonly<Record<string, string>>;
  readonly defaultAgentId?: string;
  readonly agents?: readonly { readonly agentId: string; readonly isDefault?: boolean }[];
  readonly sessions?: { readonly path?: string; readonly count: number };
  /** Why the config on disk is not the one in force, when it is not. */
  readonly trouble?: string;
  /** There when the approvals file is gone or cannot be read. */
  readonly approvals?: { readonly caution: Caution };
  /** There when the store is damaged or has no space left. */
  readonly store?: { readonly ok: false; readonly problem: string };
  /** Of the default agent; `caution` when it has none or it cannot start. */
  readonly sandbox?: {
    readonly agentId: string;
    readonly mode: string;
    readonly works?: boolean;
    readonly caution?: Caution;
  };
}

/** What an owner should know, and the command that changes it. */
export interface Caution {
  readonly text: string;
  readonly fix: string;
}

export interface HelloOk {
  readonly protocol: number;
  readonly server: { readonly version: string; readonly host?: string; readonly connId: string };
  readonly features: { readonly methods: readonly string[]; readonly events: readonly string[] };
  readonly snapshot: {
    readonly presence: readonly PresenceEntry[];
    readonly health: Health;
    readonly uptimeMs: number;
    readonly configPath?: string;
    readonly stateDir?: string;
    readonly sessionDefaults?: { readonly defaultAgentId?: string; readonly mainSessionKey?: string };
  };
  readonly auth?: { readonly deviceToken: string; readonly role: string; readonly scopes: readonly string[] };
  readonly policy: { readonly maxPayload: number; readonly tickIntervalMs: number };
}

export interface PendingDevice {
  readonly requestId: string;
  readonly deviceId: string;
  readonly displayName?: string;
  readonly platform?: string;
  readonly clientId?: string;
  readonly clientMode?: string;
  readonly role: string;
  readonly scopes?: readonly string[];
  readonly isRepair?: boolean;
  readonly ts: number;
  /** Of a paired node: what it offers beyond what was approved. */
  readonly added?: {
    readonly caps: readonly string[];
    readonly commands: readonly string[];
    readonly permissions?: Readonly<Record<string, boolean>>;
  };
}

export interface PairedDevice {
  readonly deviceId: string;
  readonly displayName?: string;
  readonly platform?: string;
  readonly clientId?: string;
  readonly clientMode?: string;
  readonly role?: string;
  readonly roles?: readonly string[];
  readonly scopes?: readonly string[];
  readonly approvedAtMs?: number;
  readonly tokens?: readonly { readonly role: string; readonly lastUsedAtMs?: number; readonly revokedAtMs?: number }[];
}

/** `pass`, `block`, or why the layer had nothing to say. */
export interface DecisionLayer {
  readonly layer: string;
  readonly path?: string;
  readonly verdict: string;
  readonly rule?: { readonly path: string; readonly entry?: string };
  readonly note?: string;
}

export interface Decision {
  readonly tool: string;
  readonly allowed: boolean;
  readonly layers: readonly DecisionLayer[];
  /** The first layer that blocked; absent when allowed. */
  readonly decidedBy?: {
    readonly layer: string;
    readonly path: string;
    readonly entry?: string;
    readonly reason: string;
  };
  readonly fix?: { readonly summary: string; readonly command?: string };
  readonly warnings?: readonly string[];
}

export interface CatalogTool {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly group?: string;
  readonly source?: string;
  readonly built: boolean;
  readonly available: boolean;
  readonly unavailable?: { readonly reason: string; readonly fix?: string };
  /** Where calls of it act, under which further rules. */
  readonly place?: { readonly summary: string; readonly rules: readonly string[]; readonly caution?: Caution };
  readonly allowed: boolean;
  readonly parameters: unknown;
  readonly decision: Decision;
  readonly explain: string;
}

export interface Catalog {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly agents: readonly string[];
  readonly tools: readonly CatalogTool[];
}

export type ResultBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string };

export interface ToolOutcome {
  readonly content: readonly ResultBlock[];
  readonly details?: unknown;
}

export interface JournalEntry {
  readonly id: string | number;
  readonly at: number | string;
  readonly tool: string;
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly caller?: string;
  readonly outcome: string;
  readonly durationMs?: number;
  readonly intent?: unknown;
  readonly error?: unknown;
}

export interface SessionRow {
  readonly key: string;
  readonly updatedAt: number;
  readonly label?: string;
  readonly displayName?: string;
  readonly derivedTitle?: string;
  readonly lastMessagePreview?: string;
  readonly modelProvider?: string;
  readonly model?: string;
  readonly providerOverride?: string;
  readonly modelOverride?: string;
  readonly totalTokens?: number;
  readonly contextTokens?: number;
  readonly thinkingLevel?: string;
}

export interface SessionList {
  readonly sessions: readonly SessionRow[];
  readonly defaults?: { readonly modelProvider?: string | null; readonly model?: string | null };
}

export interface KnownModel {
  readonly id: string;
  readonly provider?: string;
  readonly name?: string;
  readonly contextWindow?: number;
  readonly reasoning?: boolean;
  /** False when a key or a server is missing. */
  readonly ready?: boolean;
  /** `found`: a server on this machine that nobody has chosen yet. */
  readonly source?: string;
}

export interface FoundModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
  readonly source: string;
  readonly ready: boolean;
}

export interface ModelTest {
  readonly ok: boolean;
  readonly ms: number;
  readonly text?: string;
  readonly failure?: unknown;
}

export interface Explained {
  readonly decision: Decision;
  readonly unavailable?: { readonly reason: string; readonly fix?: string };
  readonly text: string;
}

/** As `node.list` shows it; an absent node advertises nothing. */
export interface NodeRow {
  readonly nodeId: string;
  readonly displayName?: string;
  readonly platform?: string;
  readonly version?: string;
  readonly deviceFamily?: string;
  readonly modelIdentifier?: string;
  readonly remoteIp?: string;
  readonly pathEnv?: string;
  readonly caps: readonly string[];
  readonly commands: readonly string[];
  readonly permissions?: Readonly<Record<string, boolean>>;
  readonly connectedAtMs?: number;
  readonly paired: boolean;
  readonly connected: boolean;
}

/** Secrets are markers in every part of it. */
export interface ConfigSnapshot {
  readonly path: string;
  /** The text of the file itself: without what it includes, with its variables as written. */
  readonly raw: string;
  /** What holds: includes, variables and defaults filled in. */
  readonly config: unknown;
  readonly hash: string;
  readonly valid: boolean;
}

export type JobSchedule =
  | { readonly kind: "at"; readonly at: string }
  | { readonly kind: "every"; readonly everyMs: number }
  | { readonly kind: "cron"; readonly expr: string; readonly tz?: string };

export interface CronJob {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly agentId?: string;
  readonly enabled: boolean;
  readonly deleteAfterRun?: boolean;
  readonly schedule: JobSchedule;
  readonly sessionTarget: string;
  readonly wakeMode: string;
  readonly payload: Readonly<Record<string, unknown>> & { readonly kind: string };
  readonly delivery?: { readonly mode: string; readonly channel?: string; readonly to?: string };
  readonly state: {
    readonly nextRunAtMs?: number;
    readonly runningAtMs?: number;
    readonly lastRunAtMs?: number;
    readonly lastStatus?: string;
    readonly lastError?: string;
    readonly consecutiveErrors?: number;
  };
}

export interface CronRun {
  readonly ts: number;
  readonly status: "ok" | "error" | "skipped";
  readonly state: string;
  readonly slot: string;
  readonly why?: string;
  readonly missed?: number;
  readonly error?: string;
  readonly summary: string;
  readonly sessionKey?: string;
  readonly runAtMs: number;
  readonly durationMs: number;
}

export interface CronPreview {
  readonly tz: string;
  readonly fires: readonly {
    readonly atMs: number;
    readonly local: string;
    readonly offset: string;
    readonly note?: string;
  }[];
}

/** Method name → what goes in and what comes back. A method the page starts to use is one line here. */
export interface Methods {
  health: [params: { probe?: boolean }, result: Health];
  "system-presence": [params: Record<string, never>, result: readonly PresenceEntry[]];
  "device.pair.list": [
    params: Record<string, never>,
    result: { pending: readonly PendingDevice[]; paired: readonly PairedDevice[] },
  ];
  "device.pair.approve": [params: { requestId: string }, result: unknown];
  "device.pair.reject": [params: { requestId: string }, result: unknown];
  "models.list": [params: Record<string, never>, result: { models: readonly KnownModel[] }];
  "models.scan": [params: Record<string, never>, result: { found: readonly FoundModel[] }];
  "models.test": [params: { provider: string; model: string }, result: ModelTest];
  "models.use": [params: { provider: string; model: string; baseUrl?: string }, result: { ok: boolean }];
  "agents.list": [params: Record<string, never>, result: { defaultId: string; agents: readonly { id: string }[] }];
  "sessions.list": [
    params: { limit?: number; includeLastMessage?: boolean; includeDerivedTitles?: boolean },
    result: SessionList,
  ];
  "sessions.patch": [
    params: { key: string; label?: string | null; model?: string | null; thinkingLevel?: string | null },
    result: unknown,
  ];
  "sessions.reset": [params: { key: string }, result: unknown];
  "sessions.delete": [params: { key: string; deleteTranscript?: boolean }, result: unknown];
  "chat.history": [
    params: { sessionKey: string; limit?: number },
    result: { messages: readonly unknown[]; thinkingLevel?: string },
  ];
  "chat.send": [
    params: { sessionKey: string; message: string; idempotencyKey: string },
    result: { runId: string; status: string },
  ];
  "chat.abort": [params: { sessionKey: string; runId?: string }, result: unknown];
  "tools.explain": [params: { tool: string; sessionKey?: string }, result: Explained];
  "tools.catalog": [params: { agentId?: string; model?: string; sessionKey?: string }, result: Catalog];
  "tools.invoke": [
    params: { tool: string; args?: Record<string, unknown>; agentId?: string; model?: string; sessionKey?: string },
    result: { ok: true; result: ToolOutcome },
  ];
  "exec.approvals.pending": [
    params: Record<string, never>,
    result: { now: number; pending: readonly ApprovalRequested[] },
  ];
  "exec.approval.resolve": [params: { id: string; decision: ApprovalDecision }, result: unknown];
  "exec.approvals.get": [params: Record<string, never>, result: unknown];
  "exec.approvals.set": [params: { file: unknown; baseHash: string }, result: unknown];
  "exec.approvals.node.get": [params: { nodeId: string }, result: unknown];
  "exec.approvals.node.set": [params: { nodeId: string; file: unknown; baseHash: string }, result: unknown];
  "node.list": [params: Record<string, never>, result: { nodes: readonly NodeRow[] }];
  "config.get": [params: Record<string, never>, result: ConfigSnapshot];
  "config.patch": [params: { raw: string; baseHash: string; note?: string }, result: { config: unknown; hash: string }];
  "cron.status": [
    params: Record<string, never>,
    result: { enabled: boolean; jobs: number; nextWakeAtMs: number | null },
  ];
  "cron.list": [params: { includeDisabled: boolean }, result: { jobs: readonly CronJob[] }];
  "cron.add": [params: Record<string, unknown>, result: CronJob];
  "cron.update": [params: { id: string; patch: Record<string, unknown> }, result: CronJob];
  "cron.remove": [params: { id: string }, result: { removed: boolean }];
  "cron.run": [params: { id: string; mode: "force" }, result: { ran: boolean; reason?: string }];
  "cron.runs": [params: { id: string; limit: number }, result: { entries: readonly CronRun[] }];
  "cron.preview": [params: { job: Record<string, unknown>; count: number }, result: CronPreview];
  "tools.journal": [params: { limit?: number }, result: { entries: readonly JournalEntry[] }];
}
