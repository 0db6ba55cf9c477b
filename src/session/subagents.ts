// Subagents as tools and commands use them: start, list, stop.
import type { RunOutcome } from "../core/event.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import type { ChildRecord, ChildStatus } from "../store/store.ts";
import type { Route } from "../channel/outbound.ts";

/** The requester and the task. */
export interface SpawnRequest {
  readonly requester: { readonly agent: AgentId; readonly session: SessionKey; readonly sandboxed: boolean };
  /** The requesting turn; its subagent has no more trust than the turn itself. */
  readonly turn: string;
  /** The tools of the requester; the subagent gets no others. */
  readonly tools: readonly string[];
  readonly task: string;
  readonly label?: string | undefined;
  readonly agentId?: string | undefined;
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  /** 0 means no limit. */
  readonly runTimeoutSeconds?: number | undefined;
  readonly cleanup?: "delete" | "keep" | undefined;
}

export type SpawnAnswer =
  | {
      readonly status: "accepted";
      readonly runId: string;
      readonly childSessionKey: SessionKey;
      readonly warning?: string;
    }
  | { readonly status: "forbidden"; readonly error: string };

/** How the requester learns of the end: a turn of its agent, a plain message in its chat, or not at all. */
export type Telling = "turn" | "say" | "none";

/** Stored with the record. */
export interface ChildBody {
  readonly task: string;
  readonly agentId: AgentId;
  readonly label?: string;
  readonly model?: string;
  readonly cleanup: "delete" | "keep";
  readonly runTimeoutSeconds: number;
  readonly sessionId: string;
  readonly route?: Route;
  readonly telling: Telling;
  /** An untrusted turn started it. */
  readonly untrusted?: true;
  readonly result?: ChildResult;
}

export interface ChildResult {
  /** Its last message, shortened. */
  readonly text: string;
  readonly notes?: string;
  readonly runtimeMs: number;
  readonly input?: number;
  readonly output?: number;
  readonly costUsd?: number;
}

export interface Child extends Omit<ChildRecord, "body"> {
  readonly body: ChildBody;
}

export interface Subagents {
  /** Durable when it resolves: the subagent runs or ends with its true status, and its requester is informed. */
  spawn(request: SpawnRequest): Promise<SpawnAnswer>;
  /** The newest hundred, newest first. */
  list(requester: SessionKey): Promise<readonly Child[]>;
  /** Stops the running ones among `runIds`, or all of the requester; resolves with those it stopped. */
  stop(
    requester: SessionKey,
    runIds: readonly string[] | "all",
    telling: Exclude<Telling, "turn">,
  ): Promise<readonly Child[]>;
  /** Sends a further message of the person; undefined when the time runs out. */
  ask(child: Child, text: string, timeoutMs: number, signal?: AbortSignal): Promise<RunOutcome | undefined>;
  /** Recovers subagents of an earlier process and archives those that are due. */
  recover(): Promise<void>;
  close(): void;
}

export const childOf = (record: ChildRecord): Child => record as Child;

export const nameOf = ({ runId, body }: Child): string => body.label ?? `subagent ${runId.slice(0, 8)}`;

export const endWords: Readonly<Record<ChildStatus, string>> = {
  ok: "completed",
  error: "failed",
  timeout: "timed out",
  killed: "was stopped before it finished",
  unknown: "was interrupted; its progress is unknown",
};
