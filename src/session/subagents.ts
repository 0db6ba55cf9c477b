// Sub-agents as tools and commands use them: start one, see how they stand, stop them.
import type { RunOutcome } from "../core/event.ts";
import type { AgentId, SessionKey } from "../core/names.ts";
import type { ChildRecord, ChildStatus } from "../store/store.ts";
import type { Route } from "../channel/outbound.ts";

/** Who asks, and what for. */
export interface SpawnRequest {
  readonly requester: { readonly agent: AgentId; readonly session: SessionKey; readonly sandboxed: boolean };
  /** The turn that asks: a child of one that strangers' words led to is theirs as well. */
  readonly turn: string;
  /** Names of the tools the requester has itself: a child gets no others. */
  readonly tools: readonly string[];
  readonly task: string;
  readonly label?: string | undefined;
  readonly agentId?: string | undefined;
  readonly model?: string | undefined;
  readonly thinking?: string | undefined;
  /** 0: none. */
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

/** How the requester hears of the end: a turn of its agent, plain words in its chat, or not at all. */
export type Telling = "turn" | "say" | "none";

/** Kept with the record. */
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
  /** Its last words, bounded. */
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
  /** Durable when it resolves: the child runs, or ends with a truthful word, and its requester hears of it. */
  spawn(request: SpawnRequest): Promise<SpawnAnswer>;
  /** Newest first, the last hundred. */
  list(requester: SessionKey): Promise<readonly Child[]>;
  /** Stops those under way among `runIds`, or all of the requester; resolves with what it stopped. */
  stop(
    requester: SessionKey,
    runIds: readonly string[] | "all",
    telling: Exclude<Telling, "turn">,
  ): Promise<readonly Child[]>;
  /** A further message to it from the person; undefined when the time is over. */
  ask(child: Child, text: string, timeoutMs: number, signal?: AbortSignal): Promise<RunOutcome | undefined>;
  /** Takes up what an earlier process left, and puts away what is due. */
  recover(): Promise<void>;
  close(): void;
}

export const childOf = (record: ChildRecord): Child => record as Child;

export const nameOf = ({ runId, body }: Child): string => body.label ?? `sub-agent ${runId.slice(0, 8)}`;

export const endWords: Readonly<Record<ChildStatus, string>> = {
  ok: "completed",
  error: "failed",
  timeout: "timed out",
  killed: "was stopped before it was done",
  unknown: "was cut off; how far it came is unknown",
};
