// The events of an agent run, which every client reads as one stream.
import type { Block, Usage } from "./message.ts";
import type { SessionKey } from "./names.ts";

/** Ordered within a run; `seq` counts from 1 and includes events some clients never get. */
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
  /** `text` is all of the current reply so far. */
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
  /** Something the person should read that is no reply: a retry, a fail-over, a cut, a budget near its end. */
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

/** Exactly one per run, also over crash and restart. */
export interface RunOutcome {
  readonly runId: string;
  readonly sessionKey: SessionKey;
  readonly sessionId: string;
  readonly status: "ok" | "error" | "aborted";
  readonly startedAt: number;
  readonly endedAt: number;
  /** The reply to the person: the last assistant text or a command's answer; empty for NO_REPLY. */
  readonly text: string;
  readonly silent: boolean;
  readonly provider?: string;
  readonly model?: string;
  readonly usage?: Usage;
  readonly costUsd?: number;
  readonly toolCalls: number;
  /** The last answer is not whole: it reached the limit of tokens, or the vendor held it back. */
  readonly cut?: "length" | "refusal";
  /** Calls of tools the caller brought along (`/v1/responses`); the caller answers them in its next request. */
  readonly clientCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly failure?: RunFailure;
}
