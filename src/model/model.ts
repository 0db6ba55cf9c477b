// The contract of a model. Each vendor has a wire (src/model/wire) that must pass model.cases.ts.
import type { ThinkingLevel } from "../core/thinking-level.ts";
import type { Message, Usage } from "../core/message.ts";

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** Plain JSON Schema. */
  readonly parameters: unknown;
  /** The vendor enforces the schema, where it can. */
  readonly strict?: true;
}

/** `{ tool }`: that tool must be called. */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string };

/** Settings of the answer. A model that lacks one fails with `unsupported`. */
export interface AnswerSettings {
  /** For all answers of a turn together, including reasoning. */
  readonly maxOutputTokens?: number;
  readonly toolChoice?: ToolChoice;
  readonly temperature?: number;
  readonly topP?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  /** Answer in JSON; without a schema any JSON. */
  readonly json?: { readonly name?: string; readonly description?: string; readonly schema?: unknown };
  /** At most one tool call per answer. */
  readonly singleCall?: true;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ModelTool[];
  readonly thinking: ThinkingLevel;
  readonly maxTokens: number;
  /** Stable per session: lets vendors keep a prompt cache together. */
  readonly cacheKey: string;
  readonly settings?: AnswerSettings;
}

export type ModelEvent =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "thinking"; readonly delta: string }
  | { readonly type: "tool-start"; readonly id: string; readonly name: string }
  /** `arguments` is the unparsed text; the code that runs the tool parses it once. */
  | { readonly type: "tool-call"; readonly id: string; readonly name: string; readonly arguments: string }
  /** The last event of a successful stream. `replay` is what the vendor expects back with this turn (signatures …). */
  | { readonly type: "end"; readonly stop: StopReason; readonly usage: Usage; readonly replay?: unknown }
  /** The last event of a failed stream. */
  | { readonly type: "error"; readonly error: ModelFailure };

export type StopReason = "stop" | "tool-calls" | "length" | "refusal" | "other";

export type FailureKind =
  | "auth" // wrong or missing credential
  | "billing" // no credit
  | "rate-limit" // rate limit
  | "overloaded" // 5xx
  | "context" // the request exceeds the model's context window
  | "invalid" // the vendor rejects the request
  | "unsupported" // the model does not support a requested setting
  | "network" // no connection, TLS, connection lost
  | "timeout" // one of our deadlines
  | "garbled" // an unreadable response
  | "empty" // an empty answer
  | "aborted"; // aborted by the caller

export interface ModelFailure {
  readonly kind: FailureKind;
  /** For people; no secrets. */
  readonly message: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/**
 * One model at one vendor with one credential. `stream` must not throw or reject: every failure is its last event, and
 * exactly one of `end` and `error` comes last. After `signal` aborts the socket is closed and the last event is
 * `error` of kind `aborted`. Deadlines for connect, first token and stall are kept here.
 */
export interface Model {
  readonly provider: string;
  readonly id: string;
  readonly facts: ModelFacts;
  /** The auth profile whose credential it uses, where it uses one. */
  readonly profile?: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export interface ModelFacts {
  readonly name: string;
  readonly contextWindow: number;
  readonly maxTokens: number;
  readonly reasoning: boolean;
  readonly input: readonly string[];
  /** USD per million tokens. */
  readonly cost: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
  /** The price is unknown and counts as zero. */
  readonly unpriced?: true;
}

/** `provider/model`, split at the first slash. */
export interface ModelRef {
  readonly provider: string;
  readonly id: string;
  /** Only this auth profile (`provider/model@profile`). */
  readonly profile?: string;
  /** This auth profile first, while it can be used. */
  readonly preferredProfile?: string;
  /** Instead of the provider's own. */
  readonly baseUrl?: string;
  /** Beside the provider's own. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ModelEndpoint {
  readonly ref: ModelRef;
  /** The protocol of its conversations, such as `openai-responses`. */
  readonly api: string;
  /** Undefined for the vendor's own. */
  readonly baseUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: Credential | undefined;
  /** For `report`. */
  readonly profile: string;
}

export interface Credential {
  /** `bearer` goes into Authorization even where the vendor has a header of its own for keys. */
  readonly kind: "key" | "bearer";
  readonly value: string;
}

/** Provides the models of a run from config, environment and auth profiles. */
export interface ModelBook {
  /** Primary then fallbacks, for this agent and session override; empty when nothing is configured or found. */
  candidates(options: {
    readonly agentId: string;
    readonly override?: ModelRef | undefined;
    /** The conversation has images: models that accept images come first. */
    readonly needs?: "image";
  }): Promise<readonly ModelRef[]>;
  /**
   * Opens one with the best credential that is not cooling down (`resting`: even if it is); undefined when there is none.
   * Loads the vendor's package on first use.
   */
  open(ref: ModelRef, agentId: string, options?: { readonly resting?: boolean }): Promise<Model | undefined>;
  /** Reports how an attempt ended, for cool-down and rotation. */
  report(ref: ModelRef, agentId: string, outcome: "ok" | ModelFailure, profile?: string): Promise<void>;
  /** Number of credentials that can be used now, including the current one. */
  ready?(ref: ModelRef, agentId: string): Promise<number>;
  facts(ref: ModelRef): ModelFacts;
  /** The configured image models, otherwise one found from the default model and the credentials; empty when there is none. */
  imageModels(agentId: string): readonly ModelRef[];
  /**
   * Where the provider of a model is reached, for requests that are no conversation; undefined when the provider is
   * unknown or has no credential that can be used now.
   */
  endpoint(ref: ModelRef, agentId: string): Promise<ModelEndpoint | undefined>;
  /** All models that can be named, and whether each has a credential. */
  list(): Promise<
    readonly (ModelRef & { readonly facts: ModelFacts; readonly ready: boolean; readonly source: string })[]
  >;
}
