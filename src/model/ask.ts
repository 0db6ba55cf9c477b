// The contract of one question to a model outside the conversation: a tool, a plugin or media understanding asks it.
import type { AgentId, SessionKey } from "../core/names.ts";
import type { Message, Usage } from "../core/message.ts";
import type { AnswerSettings, ModelRef } from "./model.ts";

export interface ModelQuestion {
  readonly agentId: AgentId;
  /** Whose budget and usage it counts for. */
  readonly sessionKey: SessionKey;
  /** Tried in order until one answers. */
  readonly models: readonly ModelRef[];
  readonly system: string;
  readonly messages: readonly Message[];
  readonly maxTokens?: number;
  readonly settings?: AnswerSettings;
  readonly signal: AbortSignal;
}

export interface ModelAnswer {
  readonly text: string;
  readonly ref: ModelRef;
  readonly usage: Usage;
  /** Every model that was asked, in order; the last one answered. */
  readonly attempts: readonly ModelAttempt[];
}

export interface ModelAttempt {
  readonly model: string;
  readonly error?: string;
}

/** Rejects with `model.failed`, naming each attempt, and with the budget's code when a limit is reached. */
export type AskModel = (question: ModelQuestion) => Promise<ModelAnswer>;
