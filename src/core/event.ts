// The events of an agent run, as one stream for every client.
import type { Block, Usage } from "./message.ts";
import type { SessionKey } from "./names.ts";

/** Ordered within a run; `seq` counts from 1 and includes events that some clients do not receive. */
export interface RunEvent {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly seq: number;
  readonly ts: number;
  readonly body: RunEventBody;
}

export type RunEventBody =
  | { readonly stream: "lifecycle"; readonly phase: "start"; readonly startedAt: number }
  | { readonly stream: "lifecycle"; readonly phase: "end"; readonly outcome: RunOutcome }
  /** `text` is the whole current reply so far. */
  | { readonly stream: "assistant"; readonly text: string; readonly delta: string }
  | { readonly stream: "thinking"; readonly text: string; readonly delta: string }
  | {
      readonly stream: "tool";
      readonly phase: "start";
      readonly name: string;
      readonly toolCallId: string;
      readonly args: unknown;
    }
  | {
      readonly stream: "tool";
      readonly phase: "update";
      readonly name: string;
      readonly toolCallId: string;
      readonly partial: ToolOutput;
    }
  | {
      readonly stream: "tool";
      readonly phase: "result";
      readonly name: string;
      readonly toolCallId: string;
      readonly isError: boolean;
      readonly result: ToolOutput;
    }
  | { readonly stream: "compaction"; readonly phase: "start" | "end"; readonly note?: string }
  /** A note for the person that is not part of the reply: a retry, a fallback, truncation, a budget near its limit. */
  | { readonly stream: "notice"; readonly text: string };

export interface ToolOutput {
  readonly content: readonly Block[];
  readonly details?: unknown;
}

export interface RunFailure {
  /** `area.reason`, as in OpenClawError. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** Exactly one per run, also over a crash and restart. */
export interface RunOutcome {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly sessionId: string;
  readonly status: "ok" | "error" | "aborted";
  readonly startedAt: number;
  readonly endedAt: number;
  /** The reply to the person: the last assistant text or the result of a chat command; empty for NO_REPLY. */
  readonly text: string;
  readonly silent: boolean;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: Usage;
  readonly costUsd?: number;
  readonly toolCalls: number;
  /** The last answer is incomplete: it reached the token limit, or the vendor withheld it. */
  readonly cut?: "length" | "refusal";
  /** Calls of tools that the caller provided (`/v1/responses`); the caller sends their results in its next request. */
  readonly clientCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly failure?: RunFailure;
}
